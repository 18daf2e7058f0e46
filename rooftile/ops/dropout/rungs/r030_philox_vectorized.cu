// Elements by vectors of 16 bytes.
//
// Idea       a thread has a vector or two on their way before it calls Philox.
// Change     16 bytes for each access; the multiplications run while bytes are on their way.
// Limits     x, residual and y begin at multiples of 16 bytes.
// Bottleneck DRAM; of 16-bit elements Philox takes most of a multiprocessor's issue slots as well.
#include "rooftile/ops/dropout/rungs/philox_groups.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {

Status ROOFTILE_RUNG(const Call<DropoutArgs>& call) { return launch_groups<true>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
