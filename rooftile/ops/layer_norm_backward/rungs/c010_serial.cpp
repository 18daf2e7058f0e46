// CPU rung serial: the definition, in double.
#include "rooftile/families/norm/norm_backward_cpu.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) { return norm::backward::serial<true>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
