// The definition, a thread per element.
//
// Idea       the element decides which way its lane goes.
// Bottleneck a warp holds both kinds: it runs one way with 16 lanes, then the other with the other 16. They
//            take turns; they do not run side by side.
// Source     GPU MODE, lecture 4.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_branch/access_branch.h"
#include "rooftile/lessons/access_branch/rungs/branch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_branch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    branch_per_lane_kernel(const float* g_x, float* g_y, std::int64_t n) {
  for (const std::int64_t i : grid_stride(n)) {
    float v = g_x[i];
    if (i % 2 == 0) {
      v = even_way(v);
    } else {
      v = odd_way(v);
    }
    g_y[i] = v;
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessBranchArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(
      branch_per_lane_kernel,
      {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
      static_cast<const float*>(call.args.x.data), static_cast<float*>(call.args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_branch_rungs
