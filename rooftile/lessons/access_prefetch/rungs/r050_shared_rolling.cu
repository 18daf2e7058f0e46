// A ring in shared memory.
//
// Idea       the word that was taken is filled again at once.
// Change     a ring in place of a batch; any number of steps, any distance.
// Bottleneck latency: a value still passes through a register on its way to shared memory, and that store
//            waits for it.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (2022).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    shared_rolling_kernel(const float* g_x, float* g_y, std::int64_t n) {
  __shared__ float s_ring[kBlock * kDistance];
  walk_with_ring<kDistance>(g_x, g_y, n, s_ring);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(shared_rolling_kernel, call.stream, call.device, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
