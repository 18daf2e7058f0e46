// 16-byte stores of what four shuffles gathered.
//
// Idea       lane l stores neighbours 4 * (l % 8) and on of four points at a time: the same four values every
//            time.
// Change     4 shuffles and 8 stores of 16 bytes in place of 32 stores.
// Limits     y aligned to 16 bytes.
// Bottleneck memory, written.
// Source     our own.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"
#include "rooftile/lessons/access_neighbors/rungs/neighbors_device.h"

namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs {
namespace {

constexpr int kCount = 4;
constexpr int kLanesPerRow = kWarpSize / kCount;  // lanes that store the 32 neighbours of a point

__global__ void __launch_bounds__(kBlock) vector_stores_kernel(Volume a) {
  const int lane = lane_of_brick();
  for (std::int64_t brick = blockIdx.x; brick < a.bricks; brick += gridDim.x) {
    const WarpPlace warp = place_warp(a, brick);
    const float value = load_point(a, point_of_lane(a, warp, lane));
    Vec<float, kCount> row;
#pragma unroll
    for (int k = 0; k < kCount; ++k) row[k] = shuffle(value, kCount * (lane % kLanesPerRow) + k);
#pragma unroll
    for (int l = lane / kLanesPerRow; l < kWarpSize; l += kWarpSize / kLanesPerRow) {
      const std::int64_t point = point_of_lane(a, warp, l);
      if (point >= 0) store_vec(a.g_y + point * kWarpSize + kCount * (lane % kLanesPerRow), row);
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessNeighborsArgs>& call) {
  return launch_bricks(vector_stores_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs
