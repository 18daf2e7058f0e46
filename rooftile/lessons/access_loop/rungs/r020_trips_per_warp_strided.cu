// The lanes of a warp loop equally often.
//
// Idea       warp w of a block takes the elements with w steps: every 32nd of its 1024.
// Change     which thread takes which element.
// Bottleneck every lane reads and writes in a sector of its own; the 32 warps of the block share them if L1
//            keeps them.
// Source     our own.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_loop/access_loop.h"
#include "rooftile/lessons/access_loop/rungs/loop_device.h"

namespace rooftile::ROOFTILE_TARGET::access_loop_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    trips_per_warp_strided_kernel(const float* g_x, float* g_y, std::int64_t n) {
  const int trips = warp_index();
  for (std::int64_t first = std::int64_t{blockIdx.x} * kBlock; first < n;
       first += std::int64_t{gridDim.x} * kBlock) {
    const std::int64_t i = first + kMostTrips * lane_index() + trips;
    if (i < n) g_y[i] = after_steps(g_x[i], trips);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessLoopArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(
      trips_per_warp_strided_kernel,
      {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
      static_cast<const float*>(call.args.x.data), static_cast<float*>(call.args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_loop_rungs
