// CPU rung serial: the definition, in double.
#include "rooftile/families/norm/norm_cpu.h"
#include "rooftile/ops/rms_norm/rms_norm.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormArgs>& call) { return norm::serial<false>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs
