// Indivisible additions.
//
// Idea       the memory adds: no thread sees a half-finished total.
// Change     atomicAdd.
// Bottleneck one address: the atomics of a warp are served one after the other, where the compiler does not
//            add them up before (nvcc does, for a sum).
// Source     CUDA C++ Programming Guide, atomic functions.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/lessons/access_count/rungs/count_device.h"

namespace rooftile::ROOFTILE_TARGET::access_count_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    atomic_per_thread_kernel(const unsigned* g_x, unsigned* g_total, std::int64_t n) {
  for (const std::int64_t i : grid_stride(n)) atomicAdd(g_total, g_x[i]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessCountArgs>& call) {
  return launch_count(atomic_per_thread_kernel, call.stream, call.args,
                      grid_blocks(call.args.x.numel(), kBlock, kMostBlocks));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_count_rungs
