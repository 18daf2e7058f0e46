// A kernel for the rows, one for the columns.
//
// Idea       a block for a row takes mean and deviation, the two means of the gradient, and writes dx; then a thread for a column walks
//            down all rows.
// Limits     2^30 rows.
// Bottleneck a row is read three times, and once more for the columns, by as few threads as there are columns.
#include "rooftile/families/norm/rungs/backward_columns.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) {
  return norm::backward::launch_columns<norm::Centred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
