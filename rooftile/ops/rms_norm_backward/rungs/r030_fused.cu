// Everything from registers.
//
// Idea       a block has every so many-th row. Of x and dy, in its registers, come statistics, dx, and what is added to the columns, whose
//            sums the threads keep until the last row.
// Change     x and dy are read once, by vectors of 16 bytes; one barrier for up to four rows; the next are on their way meanwhile.
// Limits     rows of up to 32 KiB that begin at multiples of 16 bytes.
// Bottleneck DRAM; the wait of a multiprocessor's one block.
#include "rooftile/families/norm/rungs/backward_fused.h"
#include "rooftile/ops/rms_norm_backward/rms_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormBackwardArgs>& call) {
  return norm::backward::launch_fused<norm::Uncentred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs
