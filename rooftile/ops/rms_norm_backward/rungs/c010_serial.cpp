// CPU rung serial: the definition, in double.
#include "rooftile/families/norm/norm_backward_cpu.h"
#include "rooftile/ops/rms_norm_backward/rms_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormBackwardArgs>& call) { return norm::backward::serial<false>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs
