// A thread for the four or eight elements of a vector.
//
// Idea       one or two calls of Philox give a thread the words of elements that lie side by side.
// Change     every word is used.
// Limits     none: tensors may begin anywhere.
// Bottleneck single elements: the lanes of a warp are 16 bytes apart.
#include "rooftile/ops/dropout/rungs/philox_groups.h"

namespace rooftile::ROOFTILE_TARGET::dropout_rungs {

Status ROOFTILE_RUNG(const Call<DropoutArgs>& call) { return launch_groups<false>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::dropout_rungs
