// The lanes add up first.
//
// Idea       32 values meet in registers; lane 0 adds their sum.
// Change     a warp reduction before the atomic: a 32nd of the atomics.
// Bottleneck still an atomic per warp, all on one address.
// Source     CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics (2014).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/device/warp.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/lessons/access_count/rungs/count_device.h"

namespace rooftile::ROOFTILE_TARGET::access_count_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    atomic_per_warp_kernel(const unsigned* g_x, unsigned* g_total, std::int64_t n) {
  const std::int64_t i = grid_thread();
  const unsigned sum = warp_reduce(i < n ? g_x[i] : 0u, [](unsigned a, unsigned b) { return a + b; });
  if (lane_index() == 0) atomicAdd(g_total, sum);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessCountArgs>& call) {
  return launch_count(atomic_per_warp_kernel, call.stream, call.args,
                      static_cast<unsigned>((call.args.x.numel() + kBlock - 1) / kBlock));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_count_rungs
