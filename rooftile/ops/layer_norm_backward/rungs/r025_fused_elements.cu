// Everything from registers, of rows that begin anywhere.
//
// Idea       a block has every so many-th row. Of x and dy, in its registers, come statistics, dx, and what is added to the columns, whose
//            sums the threads keep until the last row.
// Change     x and dy are read once; one barrier for up to four rows; the next are on their way meanwhile.
// Limits     rows of up to 8192 elements that lie side by side.
// Bottleneck requests: of 2 or 4 bytes of each lane, three or four for an element.
#include "rooftile/families/norm/rungs/backward_fused.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) {
  return norm::backward::launch_fused<norm::Centred, false>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
