// CPU rung serial: the definition, in double.
#include "rooftile/families/norm/norm_cpu.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) { return norm::serial<true>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
