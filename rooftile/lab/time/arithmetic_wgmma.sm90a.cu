// Hopper's tensor cores. By wgmma: two warpgroups per SM multiply the same tiles of shared memory over and over; the
// tiles' layout is left open (8 x 16-byte core matrices, no swizzle), because the values of random tiles do not care. And by
// mma.sync products of f64.
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", mma.sync.aligned.m16n8k16.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "rooftile/device/launch.h"
#include "rooftile/lab/time/arithmetic_data.h"
#include "rooftile/lab/time/arithmetic_kernels.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using lab::Arithmetic;
using lab::normal_number;
using Shape = lab::WgmmaShape;

constexpr int kBlock = Shape::kWarpgroup * Shape::kWarpgroups;
constexpr int kWordsOfA = Shape::kM * Shape::kDepthBytes / 4;
constexpr int kWordsOfB = Shape::kN * Shape::kDepthBytes / 4;
constexpr int kWords = Shape::kWarpgroups * kWordsOfA + Shape::kTilesOfB * kWordsOfB;
constexpr int kSums = Shape::kM * Shape::kN / Shape::kWarpgroup;  // f32 accumulators per thread
static_assert(kWords * 4 <= 48 * 1024, "the tiles fit into static shared memory");

// 32 bits of numbers.
template <Arithmetic kArithmetic>
__device__ std::uint32_t operand_word(std::uint32_t at) {
  std::uint32_t word = 0;
  if constexpr (kArithmetic == Arithmetic::wgmma_tf32) {
    return __float_as_uint(normal_number(at)) & 0xFFFFE000u;  // its lowest 13 bits are not read
  } else if constexpr (kArithmetic == Arithmetic::wgmma_f8e4m3) {
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t byte = __nv_cvt_float_to_fp8(normal_number(4 * at + i), __NV_SATFINITE, __NV_E4M3);
      word |= byte << 8 * i;
    }
  } else {
#pragma unroll
    for (std::uint32_t i = 0; i < 2; ++i) {
      const float number = normal_number(2 * at + i);
      const std::uint32_t half = kArithmetic == Arithmetic::wgmma_f16
                                     ? __half_as_ushort(__float2half(number))
                                     : __bfloat16_as_ushort(__float2bfloat16(number));
      word |= half << 16 * i;
    }
  }
  return word;
}

// Start address, leading and stride byte offset of the core matrices, each in units of 16 bytes; no swizzle.
__device__ std::uint64_t tile_descriptor(const void* s_tile) {
  constexpr std::uint64_t kLeading = 128 / 16;
  constexpr std::uint64_t kStride = 256 / 16;
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(s_tile));
  return (address & 0x3FFFF) >> 4 | kLeading << 16 | kStride << 32;
}

// The 128 accumulators as operands, and as their places %0 to %127 in the instruction.
#define ROOFTILE_SUMS_8(i)                                                                             \
  "+f"(r_sums[i]), "+f"(r_sums[i + 1]), "+f"(r_sums[i + 2]), "+f"(r_sums[i + 3]), "+f"(r_sums[i + 4]), \
      "+f"(r_sums[i + 5]), "+f"(r_sums[i + 6]), "+f"(r_sums[i + 7])
#define ROOFTILE_SUMS_32(i) \
  ROOFTILE_SUMS_8(i), ROOFTILE_SUMS_8(i + 8), ROOFTILE_SUMS_8(i + 16), ROOFTILE_SUMS_8(i + 24)
#define ROOFTILE_PLACES                                                                             \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "     \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, " \
  "%39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, " \
  "%58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, " \
  "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "    \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define ROOFTILE_WGMMA(SHAPE_AND_TYPES, TRANSPOSES)                                                    \
  asm volatile("wgmma.mma_async.sync.aligned." SHAPE_AND_TYPES " " ROOFTILE_PLACES                     \
               ", %128, %129, 1, 1, 1" TRANSPOSES ";"                                                  \
               : ROOFTILE_SUMS_32(0), ROOFTILE_SUMS_32(32), ROOFTILE_SUMS_32(64), ROOFTILE_SUMS_32(96) \
               : "l"(a), "l"(b))

// sums (64 x 256) += a (64 x k) * b (k x 256), asynchronously.
template <Arithmetic kArithmetic>
__device__ __forceinline__ void multiply_add(float (&r_sums)[kSums], std::uint64_t a, std::uint64_t b) {
  if constexpr (kArithmetic == Arithmetic::wgmma_bf16)
    ROOFTILE_WGMMA("m64n256k16.f32.bf16.bf16", ", 0, 0");
  else if constexpr (kArithmetic == Arithmetic::wgmma_f16)
    ROOFTILE_WGMMA("m64n256k16.f32.f16.f16", ", 0, 0");
  else if constexpr (kArithmetic == Arithmetic::wgmma_f8e4m3)
    ROOFTILE_WGMMA("m64n256k32.f32.e4m3.e4m3", "");
  else
    ROOFTILE_WGMMA("m64n256k8.f32.tf32.tf32", "");
}

template <Arithmetic kArithmetic>
__global__ void __launch_bounds__(kBlock, 1) wgmma_kernel(int rounds, float* g_sink) {
  __shared__ __align__(128) std::uint32_t s_tiles[kWords];
  for (unsigned i = threadIdx.x; i < kWords; i += kBlock) s_tiles[i] = operand_word<kArithmetic>(i);
  asm volatile("fence.proxy.async;" ::: "memory");  // wgmma reads shared memory through the async proxy
  __syncthreads();
  const std::uint64_t a = tile_descriptor(s_tiles + threadIdx.x / Shape::kWarpgroup * kWordsOfA);
  std::uint64_t b[Shape::kTilesOfB];
#pragma unroll
  for (int i = 0; i < Shape::kTilesOfB; ++i) {
    b[i] = tile_descriptor(s_tiles + Shape::kWarpgroups * kWordsOfA + i * kWordsOfB);
  }
  float r_sums[kSums] = {};
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (const std::uint64_t tile : b) multiply_add<kArithmetic>(r_sums, a, tile);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float folded = 0;
#pragma unroll
  for (const float sum : r_sums) folded += sum;
  // Sums of products of hundredths are never this: the compiler cannot know.
  if (folded == 1e-30f) *g_sink = folded;
}

using DoubleShape = lab::MmaSyncShape;

__device__ void multiply_add(double (&r_sum)[4], const double (&r_a)[8], const double (&r_b)[4]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, "
      "{%12, %13, %14, %15}, {%0, %1, %2, %3};"
      : "+d"(r_sum[0]), "+d"(r_sum[1]), "+d"(r_sum[2]), "+d"(r_sum[3])
      : "d"(r_a[0]), "d"(r_a[1]), "d"(r_a[2]), "d"(r_a[3]), "d"(r_a[4]), "d"(r_a[5]), "d"(r_a[6]),
        "d"(r_a[7]), "d"(r_b[0]), "d"(r_b[1]), "d"(r_b[2]), "d"(r_b[3]));
}

__global__ void __launch_bounds__(DoubleShape::kBlock, DoubleShape::kBlocksPerSm)
    mma_sync_f64_kernel(int rounds, double* g_sink) {
  double r_a[8];
  double r_b[4];
#pragma unroll
  for (std::uint32_t i = 0; i < 8; ++i) r_a[i] = normal_number(threadIdx.x * 16 + i);
#pragma unroll
  for (std::uint32_t i = 0; i < 4; ++i) r_b[i] = normal_number(threadIdx.x * 16 + 8 + i);
  double r_sums[DoubleShape::kChains][4] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (double(&r_sum)[4] : r_sums) multiply_add(r_sum, r_a, r_b);
  }
  double folded = 0;
#pragma unroll
  for (const double(&r_sum)[4] : r_sums) folded += r_sum[0] + r_sum[1] + r_sum[2] + r_sum[3];
  if (folded == 1e-30) *g_sink = folded;
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET

namespace rooftile::lab {

Status hopper_cuda(StreamRef stream, Arithmetic arithmetic, int multiprocessors, int rounds, void* sink) {
  using namespace rooftile::ROOFTILE_TARGET;
  const LaunchConfig config{
      .grid = dim3(static_cast<unsigned>(multiprocessors)), .block = dim3(kBlock), .stream = stream};
  auto* const floats = static_cast<float*>(sink);
  switch (arithmetic) {
    case Arithmetic::wgmma_bf16:
      return launch(wgmma_kernel<Arithmetic::wgmma_bf16>, config, rounds, floats);
    case Arithmetic::wgmma_f16:
      return launch(wgmma_kernel<Arithmetic::wgmma_f16>, config, rounds, floats);
    case Arithmetic::wgmma_tf32:
      return launch(wgmma_kernel<Arithmetic::wgmma_tf32>, config, rounds, floats);
    case Arithmetic::wgmma_f8e4m3:
      return launch(wgmma_kernel<Arithmetic::wgmma_f8e4m3>, config, rounds, floats);
    case Arithmetic::mma_sync_f64:
      return launch(mma_sync_f64_kernel,
                    {.grid = dim3(static_cast<unsigned>(multiprocessors * MmaSyncShape::kBlocksPerSm)),
                     .block = dim3(MmaSyncShape::kBlock),
                     .stream = stream},
                    rounds, static_cast<double*>(sink));
    case Arithmetic::fma_f32:
    case Arithmetic::fma_f64:
    case Arithmetic::mma_sync_bf16:
      break;
  }
  return internal_error("not an instruction of Hopper alone");
}

}  // namespace rooftile::lab
