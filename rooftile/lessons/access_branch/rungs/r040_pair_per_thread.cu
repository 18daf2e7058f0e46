// One element of each kind per thread.
//
// Idea       a thread that has both kinds goes both ways usefully: the branch is gone because the work is
//            regular.
// Change     two elements per thread, one 8-byte access.
// Limits     x and y aligned to 8 bytes.
// Bottleneck arithmetic, all lanes at work.
// Source     our own.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/device/vec.h"
#include "rooftile/lessons/access_branch/access_branch.h"
#include "rooftile/lessons/access_branch/rungs/branch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_branch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    pair_per_thread_kernel(const float* g_x, float* g_y, std::int64_t n) {
  for (const std::int64_t pair : grid_stride(n / 2)) {
    const Vec<float, 2> in = load_vec<LoadPolicy::cached, 2 * sizeof(float)>(g_x + 2 * pair);
    const Vec<float, 2> out{even_way(in[0]), odd_way(in[1])};
    store_vec(g_y + 2 * pair, out);
  }
  if (n % 2 != 0 && grid_thread() == 0) g_y[n - 1] = even_way(g_x[n - 1]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessBranchArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(pair_per_thread_kernel,
                {.grid = dim3(grid_blocks(n, std::int64_t{2} * kBlock, kMostBlocks)),
                 .block = dim3(kBlock),
                 .stream = call.stream},
                static_cast<const float*>(call.args.x.data), static_cast<float*>(call.args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_branch_rungs
