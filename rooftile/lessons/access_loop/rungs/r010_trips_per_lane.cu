// The definition, a thread per element.
//
// Idea       the element decides how often its lane loops.
// Bottleneck lanes 0 to 31 loop 0 to 31 times: the warp loops 31 times, half of its lanes done long before.
// Source     GPU MODE, lecture 4.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_loop/access_loop.h"
#include "rooftile/lessons/access_loop/rungs/loop_device.h"

namespace rooftile::ROOFTILE_TARGET::access_loop_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    trips_per_lane_kernel(const float* g_x, float* g_y, std::int64_t n) {
  for (const std::int64_t i : grid_stride(n)) g_y[i] = after_steps(g_x[i], static_cast<int>(i % kMostTrips));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessLoopArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(
      trips_per_lane_kernel,
      {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
      static_cast<const float*>(call.args.x.data), static_cast<float*>(call.args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_loop_rungs
