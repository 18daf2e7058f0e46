// CPU rung threaded: cores have parts of the rows, then columns.
#include "rooftile/families/norm/norm_backward_cpu.h"
#include "rooftile/ops/rms_norm_backward/rms_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormBackwardArgs>& call) { return norm::backward::threaded<false>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs
