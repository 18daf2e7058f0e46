// Several packs of each tensor per thread, all of them on their way before the first is used.
//
// Idea       what memory is asked for at once grows without more threads: a block's packs lie one behind the other, a
//            thread takes every blockDim-th of them.
// Limits     those of scalar, and tensors that are aligned alike. A small input has too few packs to fill the multiprocessors this way: see vectorized.
// Bottleneck DRAM.
// Source     Volkov, "Better Performance at Lower Occupancy" (2010).
#include "rooftile/ops/elementwise/rungs/typed_functions.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {

Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) {
  return dispatch_lesson(call.args, packs_of<4>(call));
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
