// Tensor cores by mma.sync: the instruction of every GPU from sm_80 on. On Hopper it reaches about 0.6 of
// what wgmma does (tensor_ceiling.sm90a.cu).
//
// Source: PTX ISA, mma.sync.aligned.m16n8k16.
#include "rooftile/lab/time/tensor_ceiling.h"

#include <cstdint>

#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

constexpr int kBlock = 256;
constexpr int kBlocksPerSm = 2;  // 16 warps, four per tensor core
constexpr int kChains = 8;       // independent, so that latency does not decide
constexpr double kFlops = 2.0 * 16 * 8 * 16;

// A word of two bf16 between 0.5 and 1, or -1 and -0.5: multiplying zeros would cost less power.
__device__ std::uint32_t random_operand(std::uint32_t at) {
  std::uint32_t word = at * 2654435761u;
  word ^= word >> 15;
  word *= 2246822519u;
  return (word & 0x807F807Fu) | 0x3F003F00u;
}

__device__ void multiply_add(float (&r_sum)[4], const std::uint32_t (&r_a)[4],
                             const std::uint32_t (&r_b)[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(r_sum[0]), "+f"(r_sum[1]), "+f"(r_sum[2]), "+f"(r_sum[3])
      : "r"(r_a[0]), "r"(r_a[1]), "r"(r_a[2]), "r"(r_a[3]), "r"(r_b[0]), "r"(r_b[1]));
}

__global__ void __launch_bounds__(kBlock, kBlocksPerSm) mma_sync_kernel(int rounds, float* g_sink) {
  std::uint32_t r_a[4];
  std::uint32_t r_b[2];
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) r_a[i] = random_operand(threadIdx.x * 8 + i);
#pragma unroll
  for (std::uint32_t i = 0; i < 2; ++i) r_b[i] = random_operand(threadIdx.x * 8 + 4 + i);
  float r_sums[kChains][4] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (float(&r_sum)[4] : r_sums) multiply_add(r_sum, r_a, r_b);
  }
  float folded = 0;
#pragma unroll
  for (const float(&r_sum)[4] : r_sums) folded += r_sum[0] + r_sum[1] + r_sum[2] + r_sum[3];
  // Sums of products of eighths and finer parts are never this: the compiler cannot know.
  if (folded == 1e-30f) *g_sink = folded;
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET

namespace rooftile::lab {

Status mma_sync_ceiling_cuda(StreamRef stream, int multiprocessors, int rounds, float* sink, double* flops) {
  using namespace rooftile::ROOFTILE_TARGET;
  const int blocks = multiprocessors * kBlocksPerSm;
  *flops = kFlops * kChains * rounds * (kBlock / 32) * blocks;
  const LaunchConfig config{
      .grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = stream};
  return launch(mma_sync_kernel, config, rounds, sink);
}

}  // namespace rooftile::lab
