#include "rooftile/lab/time/l2_ceiling.h"

#include <cstdint>

#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

constexpr int kL2Block = 512;
constexpr int kL2BlocksPerSm = 4;
constexpr int kLoadsInFlight = 4;

// A sum and not XOR: an even number of equal passes would cancel, and might be optimised away.
__device__ void add(uint4& to, const uint4& value) {
  to.x += value.x;
  to.y += value.y;
  to.z += value.z;
  to.w += value.w;
}

// __ldcg reads past the L1.
__global__ void __launch_bounds__(kL2Block)
    l2_kernel(const uint4* __restrict__ g_source, std::int64_t vectors, int passes,
              uint4* __restrict__ g_sink) {
  const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * kL2Block;
  const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * kL2Block + threadIdx.x;
  uint4 r_folded = {};
  for (int pass = 0; pass < passes; ++pass) {
    std::int64_t at = thread;
    for (; at + (kLoadsInFlight - 1) * threads < vectors; at += kLoadsInFlight * threads) {
      uint4 r_loaded[kLoadsInFlight];
#pragma unroll
      for (int i = 0; i < kLoadsInFlight; ++i) r_loaded[i] = __ldcg(g_source + at + i * threads);
#pragma unroll
      for (const uint4& loaded : r_loaded) add(r_folded, loaded);
    }
    for (; at < vectors; at += threads) add(r_folded, __ldcg(g_source + at));
  }
  // The source is all 0x01 bytes, so that every word is a multiple of 0x01010101: this never stores.
  if ((r_folded.x | r_folded.y | r_folded.z | r_folded.w) == 0x5DEECE66u) *g_sink = r_folded;
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET

namespace rooftile::lab {

Status l2_ceiling_cuda(StreamRef stream, int multiprocessors, const void* source, std::size_t bytes,
                       int passes, void* sink) {
  using namespace rooftile::ROOFTILE_TARGET;
  const LaunchConfig config{.grid = dim3(static_cast<unsigned>(multiprocessors * kL2BlocksPerSm)),
                            .block = dim3(kL2Block),
                            .stream = stream};
  return launch(l2_kernel, config, static_cast<const uint4*>(source),
                static_cast<std::int64_t>(bytes / sizeof(uint4)), passes, static_cast<uint4*>(sink));
}

}  // namespace rooftile::lab
