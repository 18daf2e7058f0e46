// Neighbours come from the other lanes.
//
// Idea       what the 32 lanes need is what the 32 lanes have: one load, and shuffles.
// Change     32 loads become 1 load and 32 shuffles.
// Bottleneck the stores: every lane is 128 bytes from the next, 32 sectors per request.
// Source     GPU MODE, lecture 4.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"
#include "rooftile/lessons/access_neighbors/rungs/neighbors_device.h"

namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) shuffles_kernel(Volume a) {
  const int lane = lane_of_brick();
  for (std::int64_t brick = blockIdx.x; brick < a.bricks; brick += gridDim.x) {
    const WarpPlace warp = place_warp(a, brick);
    const std::int64_t own = point_of_lane(a, warp, lane);
    const float value = load_point(a, own);
    for (int l = 0; l < kWarpSize; ++l) {
      const float neighbor = shuffle(value, l);  // all lanes take part, those outside too
      if (own >= 0) a.g_y[own * kWarpSize + l] = neighbor;
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessNeighborsArgs>& call) {
  return launch_bricks(shuffles_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs
