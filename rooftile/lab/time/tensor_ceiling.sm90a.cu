// Hopper's tensor cores by wgmma: two warpgroups per SM
// multiply the same tiles of shared memory over and over.
//
// Two, because while one waits for its group of products the other's are
// executed. The operands' values decide nothing but the power that they cost, so
// their layout in the tiles is left open: 8 x 16-byte core matrices, no swizzle.
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#include <cstdint>

#include "rooftile/device/launch.h"
#include "rooftile/lab/time/tensor_ceiling.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using lab::TensorInput;

constexpr int kWarpgroup = 128;
constexpr int kWarpgroups = 2;
constexpr int kBlock = kWarpgroup * kWarpgroups;
constexpr int kM = 64;
constexpr int kN = 256;
constexpr int kDepthBytes = 32;  // of one product along k, whatever the dtype
constexpr int kTilesOfB = 4;     // products per group
constexpr int kWordsOfA = kM * kDepthBytes / 4;
constexpr int kWordsOfB = kN * kDepthBytes / 4;
constexpr int kWords = kWarpgroups * kWordsOfA + kTilesOfB * kWordsOfB;
constexpr int kSums = kM * kN / kWarpgroup;  // f32 accumulators per thread
static_assert(kWords * 4 <= 48 * 1024, "the tiles fit into static shared memory");

constexpr int k_of(TensorInput input) {
  return input == TensorInput::bf16 ? 16 : input == TensorInput::f8e4m3 ? 32 : 8;
}

// Magnitudes between 0.25 and 1 and either sign: multiplying zeros would cost less power.
template <TensorInput kInput>
__device__ std::uint32_t random_operand(std::uint32_t at) {
  std::uint32_t word = at * 2654435761u;
  word ^= word >> 15;
  word *= 2246822519u;
  if constexpr (kInput == TensorInput::bf16) return (word & 0x807F807Fu) | 0x3F003F00u;
  if constexpr (kInput == TensorInput::f8e4m3) return (word & 0x87878787u) | 0x30303030u;
  return (word & 0x807FE000u) | 0x3F000000u;
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
template <TensorInput kInput>
__device__ __forceinline__ void multiply_add(float (&r_sums)[kSums], std::uint64_t a, std::uint64_t b) {
  if constexpr (kInput == TensorInput::bf16)
    ROOFTILE_WGMMA("m64n256k16.f32.bf16.bf16", ", 0, 0");
  else if constexpr (kInput == TensorInput::f8e4m3)
    ROOFTILE_WGMMA("m64n256k32.f32.e4m3.e4m3", "");
  else
    ROOFTILE_WGMMA("m64n256k8.f32.tf32.tf32", "");
}

template <TensorInput kInput>
__global__ void __launch_bounds__(kBlock, 1) wgmma_kernel(int rounds, float* g_sink) {
  __shared__ __align__(128) std::uint32_t s_tiles[kWords];
  for (unsigned i = threadIdx.x; i < kWords; i += kBlock) s_tiles[i] = random_operand<kInput>(i);
  asm volatile("fence.proxy.async;" ::: "memory");  // wgmma reads shared memory through the async proxy
  __syncthreads();
  const std::uint64_t a = tile_descriptor(s_tiles + threadIdx.x / kWarpgroup * kWordsOfA);
  std::uint64_t b[kTilesOfB];
#pragma unroll
  for (int i = 0; i < kTilesOfB; ++i) {
    b[i] = tile_descriptor(s_tiles + kWarpgroups * kWordsOfA + i * kWordsOfB);
  }
  float r_sums[kSums] = {};
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (const std::uint64_t tile : b) multiply_add<kInput>(r_sums, a, tile);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float folded = 0;
#pragma unroll
  for (const float sum : r_sums) folded += sum;
  // Sums of products of eighths and finer parts are never this: the compiler cannot know.
  if (folded == 1e-30f) *g_sink = folded;
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET

namespace rooftile::lab {

Status wgmma_ceiling_cuda(StreamRef stream, TensorInput input, int multiprocessors, int rounds, float* sink,
                          double* flops) {
  using namespace rooftile::ROOFTILE_TARGET;
  *flops = 2.0 * kM * kN * k_of(input) * kTilesOfB * rounds * kWarpgroups * multiprocessors;
  const LaunchConfig config{
      .grid = dim3(static_cast<unsigned>(multiprocessors)), .block = dim3(kBlock), .stream = stream};
  switch (input) {
    case TensorInput::bf16:
      return launch(wgmma_kernel<TensorInput::bf16>, config, rounds, sink);
    case TensorInput::f8e4m3:
      return launch(wgmma_kernel<TensorInput::f8e4m3>, config, rounds, sink);
    case TensorInput::tf32:
      return launch(wgmma_kernel<TensorInput::tf32>, config, rounds, sink);
  }
  return internal_error("unknown input of the tensor cores");
}

}  // namespace rooftile::lab
