// No branch.
//
// Idea       both results are computed, one is kept.
// Change     a selection in place of the branch.
// Bottleneck arithmetic, as much as the diverging warp had: what a compiler does with short branches is no
//            gain for long ones.
// Source     CUDA C++ Best Practices Guide, branch predication.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_branch/access_branch.h"
#include "rooftile/lessons/access_branch/rungs/branch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_branch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    both_ways_and_select_kernel(const float* g_x, float* g_y, std::int64_t n) {
  for (const std::int64_t i : grid_stride(n)) {
    const float both[2] = {even_way(g_x[i]), odd_way(g_x[i])};
    g_y[i] = i % 2 == 0 ? both[0] : both[1];
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessBranchArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(
      both_ways_and_select_kernel,
      {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
      static_cast<const float*>(call.args.x.data), static_cast<float*>(call.args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_branch_rungs
