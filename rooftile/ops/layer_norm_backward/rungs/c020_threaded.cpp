// CPU rung threaded: cores have parts of the rows, then columns.
#include "rooftile/families/norm/norm_backward_cpu.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) { return norm::backward::threaded<true>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
