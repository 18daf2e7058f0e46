// Indivisible additions.
//
// Idea       the memory adds: no thread sees a half-finished total.
// Change     atomicAdd.
// Bottleneck one address: the atomics of a warp are served one after the other, where the compiler does not
//            add them up before (nvcc does, for a sum).
// Source     CUDA C++ Programming Guide, atomic functions.
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_count/rungs.h"
#include "rooftile/lessons/access_count/rungs/count_device.h"

namespace rooftile::ROOFTILE_TARGET::access_count_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    atomic_per_thread_kernel(const unsigned* g_x, unsigned* g_total, std::int64_t n) {
  for (const std::int64_t i : grid_stride(n)) atomicAdd(g_total, g_x[i]);
}

}  // namespace

Status atomic_per_thread(StreamRef stream, const DeviceProperties&, const AccessCountArgs& args,
                         const Workspace&) {
  return launch_count(atomic_per_thread_kernel, stream, args,
                      grid_blocks(args.x.numel(), kBlock, kMostBlocks));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_count_rungs
