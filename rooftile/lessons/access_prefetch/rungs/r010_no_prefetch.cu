// Load, work, store, next.
//
// Idea       none: a loop. One block of 128 threads per SM, so that there is a latency to hide.
// Bottleneck latency: a thread has one load on the way, and waits for it.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (2022).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) no_prefetch_kernel(const float* g_x, float* g_y, std::int64_t n) {
  const std::int64_t step = grid_threads();
#pragma unroll 1
  for (std::int64_t i = grid_thread(); i < n; i += step) g_y[i] = work(g_x[i]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(no_prefetch_kernel, call.stream, call.device, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
