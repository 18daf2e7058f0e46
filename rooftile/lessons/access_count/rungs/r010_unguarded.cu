// Wrong on purpose.
//
// Idea       every thread adds its element to the total.
// Mistake    read, add, write back: threads that read before the others have written lose their additions.
//            256 threads that add 3 leave 3, or another multiple of 3, where 768 is right.
// Source     the definition, written as for one thread.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/lessons/access_count/rungs/count_device.h"

namespace rooftile::ROOFTILE_TARGET::access_count_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    unguarded_kernel(const unsigned* g_x, unsigned* g_total, std::int64_t n) {
  for (const std::int64_t i : grid_stride(n)) {
    *g_total = *g_total + g_x[i];  // BUG: not indivisible
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessCountArgs>& call) {
  return launch_count(unguarded_kernel, call.stream, call.args,
                      grid_blocks(call.args.x.numel(), kBlock, kMostBlocks));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_count_rungs
