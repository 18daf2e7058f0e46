// Each thread loads its 32 neighbours.
//
// Idea       none: the definition, a thread per point.
// Bottleneck 32 loads per thread, of one word for all lanes; stores 128 bytes apart, a sector each.
// Source     GPU MODE, lecture 4, without its shuffles.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"
#include "rooftile/lessons/access_neighbors/rungs/neighbors_device.h"

namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) loads_by_lane_kernel(Volume a) {
  const int lane = lane_of_brick();
  for (std::int64_t brick = blockIdx.x; brick < a.bricks; brick += gridDim.x) {
    const WarpPlace warp = place_warp(a, brick);
    const std::int64_t own = point_of_lane(a, warp, lane);
    if (own < 0) continue;
    for (int l = 0; l < kWarpSize; ++l) {
      a.g_y[own * kWarpSize + l] = load_point(a, point_of_lane(a, warp, l));
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessNeighborsArgs>& call) {
  return launch_bricks(loads_by_lane_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs
