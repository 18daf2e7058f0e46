// The walk that all rungs make: thread t takes elements t, t + threads, t + 2 * threads ...
#pragma once

#include <algorithm>
#include <cstdint>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {

inline constexpr int kBlock = 128;   // four warps: too few to hide the latency of memory by themselves
inline constexpr int kDistance = 4;  // elements that are fetched ahead

__device__ __forceinline__ float work(float v) {
#pragma unroll
  for (int step = 0; step < 8; ++step) v = fmaf(v, 0.5f, 0.25f);
  return v;
}

using WalkKernel = void (*)(const float*, float*, std::int64_t);

inline Status launch_walk(WalkKernel kernel, StreamRef stream, const DeviceProperties& device,
                          const AccessPrefetchArgs& args, int blocks_per_multiprocessor = 1) {
  const std::int64_t n = args.x.numel();
  if (n == 0) return {};
  const std::int64_t limit = std::int64_t{device.multiprocessors} * blocks_per_multiprocessor;
  return launch(kernel,
                {.grid = dim3(grid_blocks(n, kBlock, limit)), .block = dim3(kBlock), .stream = stream},
                static_cast<const float*>(args.x.data), static_cast<float*>(args.y.data), n);
}

// A ring of kDistance words per thread, kPitch words apart; each thread uses its own alone, so that nothing
// has to be ordered.
template <int kPitch>
__device__ __forceinline__ void walk_with_ring(const float* g_x, float* g_y, std::int64_t n, float* s_ring) {
  float* const s_own = s_ring + kPitch * threadIdx.x;
  const std::int64_t step = grid_threads();
  for (int k = 0; k < kDistance; ++k) {
    const std::int64_t i = grid_thread() + k * step;
    if (i < n) s_own[k] = g_x[i];
  }
  int slot = 0;
#pragma unroll 1
  for (std::int64_t i = grid_thread(); i < n; i += step) {
    const float v = s_own[slot];
    if (i + kDistance * step < n) s_own[slot] = g_x[i + kDistance * step];
    g_y[i] = work(v);
    slot = (slot + 1) % kDistance;
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
