// A tile in shared memory turns the elements.
//
// Idea       32 rows of 32 elements come in by rows and are worked on by columns: column w has w steps.
// Change     shared memory between the accesses and the work; rows of 33 words, so that columns lie in 32
//            banks.
// Bottleneck arithmetic; the block waits for its longest warp, so several blocks per SM must fill in.
// Source     Ruetsch and Micikevicius 2009 for the tile.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_loop/access_loop.h"
#include "rooftile/lessons/access_loop/rungs/loop_device.h"

namespace rooftile::ROOFTILE_TARGET::access_loop_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    trips_per_warp_shared_kernel(const float* g_x, float* g_y, std::int64_t n) {
  __shared__ float s_tile[kMostTrips][kWarpSize + 1];
  const int lane = lane_index();
  const int warp = warp_index();
  for (std::int64_t first = std::int64_t{blockIdx.x} * kBlock; first < n;
       first += std::int64_t{gridDim.x} * kBlock) {
    const std::int64_t i = first + threadIdx.x;
    if (i < n) s_tile[warp][lane] = g_x[i];
    __syncthreads();  // the tile is complete
    if (first + kMostTrips * lane + warp < n) s_tile[lane][warp] = after_steps(s_tile[lane][warp], warp);
    __syncthreads();  // every column is done
    if (i < n) g_y[i] = s_tile[warp][lane];
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessLoopArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(
      trips_per_warp_shared_kernel,
      {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
      static_cast<const float*>(call.args.x.data), static_cast<float*>(call.args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_loop_rungs
