// Tensor cores by mma.sync: the instruction of every GPU from sm_80 on.
//
// Source: PTX ISA, mma.sync.aligned.m16n8k16.
#include <cuda_bf16.h>

#include <cstdint>

#include "rooftile/device/launch.h"
#include "rooftile/lab/time/arithmetic_data.h"
#include "rooftile/lab/time/arithmetic_kernels.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using lab::normal_number;
using Shape = lab::MmaSyncShape;

__device__ std::uint32_t two_numbers(std::uint32_t at) {
  const __nv_bfloat16 low = __float2bfloat16(normal_number(2 * at));
  const __nv_bfloat16 high = __float2bfloat16(normal_number(2 * at + 1));
  return static_cast<std::uint32_t>(__bfloat16_as_ushort(high)) << 16 | __bfloat16_as_ushort(low);
}

__device__ void multiply_add(float (&r_sum)[4], const std::uint32_t (&r_a)[4],
                             const std::uint32_t (&r_b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(r_sum[0]), "+f"(r_sum[1]), "+f"(r_sum[2]), "+f"(r_sum[3])
      : "r"(r_a[0]), "r"(r_a[1]), "r"(r_a[2]), "r"(r_a[3]), "r"(r_b[0]), "r"(r_b[1]));
}

__global__ void __launch_bounds__(Shape::kBlock, Shape::kBlocksPerSm)
    mma_sync_kernel(int rounds, float* g_sink) {
  std::uint32_t r_a[4];
  std::uint32_t r_b[2];
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) r_a[i] = two_numbers(threadIdx.x * 8 + i);
#pragma unroll
  for (std::uint32_t i = 0; i < 2; ++i) r_b[i] = two_numbers(threadIdx.x * 8 + 4 + i);
  float r_sums[Shape::kChains][4] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (float(&r_sum)[4] : r_sums) multiply_add(r_sum, r_a, r_b);
  }
  float folded = 0;
#pragma unroll
  for (const float(&r_sum)[4] : r_sums) folded += r_sum[0] + r_sum[1] + r_sum[2] + r_sum[3];
  // Sums of products of hundredths are never this: the compiler cannot know.
  if (folded == 1e-30f) *g_sink = folded;
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET

namespace rooftile::lab {

Status mma_sync_bf16_cuda(StreamRef stream, int multiprocessors, int rounds, void* sink) {
  using namespace rooftile::ROOFTILE_TARGET;
  const LaunchConfig config{.grid = dim3(static_cast<unsigned>(multiprocessors * MmaSyncShape::kBlocksPerSm)),
                            .block = dim3(MmaSyncShape::kBlock),
                            .stream = stream};
  return launch(mma_sync_kernel, config, rounds, static_cast<float*>(sink));
}

}  // namespace rooftile::lab
