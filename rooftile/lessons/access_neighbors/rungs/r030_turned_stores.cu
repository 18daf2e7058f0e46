// A point after the other, by the whole warp.
//
// Idea       the 32 neighbours of any point of the warp are the values of its 32 lanes, in order: the warp
//            stores them as one row.
// Change     the loop goes over points, the lanes over neighbours; the shuffles are gone.
// Bottleneck 32 stores of 4 bytes per lane.
// Source     our own.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"
#include "rooftile/lessons/access_neighbors/rungs/neighbors_device.h"

namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) turned_stores_kernel(Volume a) {
  const int lane = lane_of_brick();
  for (std::int64_t brick = blockIdx.x; brick < a.bricks; brick += gridDim.x) {
    const WarpPlace warp = place_warp(a, brick);
    const float value = load_point(a, point_of_lane(a, warp, lane));
    for (int l = 0; l < kWarpSize; ++l) {
      const std::int64_t point = point_of_lane(a, warp, l);
      if (point >= 0) a.g_y[point * kWarpSize + lane] = value;
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessNeighborsArgs>& call) {
  return launch_bricks(turned_stores_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs
