// What prefetching competes with.
//
// Idea       sixteen times the warps: while one waits for its load, the others have theirs on the way.
// Change     the grid; the kernel is that of no_prefetch.
// Bottleneck memory.
// Source     Volkov, Better Performance at Lower Occupancy (2010), for the other side of the bargain.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

constexpr int kBlocksPerMultiprocessor = 16;  // 2048 threads

__global__ void __launch_bounds__(kBlock) more_warps_kernel(const float* g_x, float* g_y, std::int64_t n) {
  const std::int64_t step = grid_threads();
#pragma unroll 1
  for (std::int64_t i = grid_thread(); i < n; i += step) g_y[i] = work(g_x[i]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(more_warps_kernel, call.stream, call.device, call.args, kBlocksPerMultiprocessor);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
