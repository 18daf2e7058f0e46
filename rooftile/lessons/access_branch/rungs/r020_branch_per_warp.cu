// The lanes of a warp agree.
//
// Idea       of a stretch of 64 elements one warp takes the even ones, the next warp the odd ones.
// Change     which thread takes which element.
// Bottleneck arithmetic; requests touch 8 sectors, of which the other warp uses the other half (out of L1,
//            with luck).
// Source     CUDA C++ Best Practices Guide, branching and divergence.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/device/warp.h"
#include "rooftile/lessons/access_branch/access_branch.h"
#include "rooftile/lessons/access_branch/rungs/branch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_branch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    branch_per_warp_kernel(const float* g_x, float* g_y, std::int64_t n) {
  constexpr int kStretch = 2 * kWarpSize;
  const std::int64_t rounded = (n + kStretch - 1) / kStretch * kStretch;
  for (const std::int64_t thread : grid_stride(rounded)) {
    const bool odd = thread / kWarpSize % 2 != 0;  // the same for all lanes of a warp
    const std::int64_t i = thread / kStretch * kStretch + thread % kWarpSize * 2 + (odd ? 1 : 0);
    if (i >= n) continue;
    float v = g_x[i];
    if (!odd) {
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
      branch_per_warp_kernel,
      {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
      static_cast<const float*>(call.args.x.data), static_cast<float*>(call.args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_branch_rungs
