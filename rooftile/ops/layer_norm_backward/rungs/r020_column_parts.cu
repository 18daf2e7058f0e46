// Columns in parts.
//
// Idea       the same kernels; the rows are cut into parts, each with sums of its own, which a third kernel adds up in their order.
// Change     as many blocks as the GPU has room for, however few the columns are.
// Limits     65535 * 16384 rows, of any length and any strides.
// Bottleneck x and dy are read four times.
#include "rooftile/families/norm/rungs/backward_columns.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) {
  return norm::backward::launch_columns<norm::Centred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
