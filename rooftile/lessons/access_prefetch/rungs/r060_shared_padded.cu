// A ring without bank conflicts.
//
// Idea       five words per thread: 5 and 32 have no common divisor, so 32 lanes lie in 32 banks.
// Change     the pitch.
// Bottleneck latency, as before: the conflicts were not what it waited for.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (2022).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) shared_padded_kernel(const float* g_x, float* g_y, std::int64_t n) {
  __shared__ float s_ring[kBlock * (kDistance + 1)];
  walk_with_ring<kDistance + 1>(g_x, g_y, n, s_ring);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(shared_padded_kernel, call.stream, call.device, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
