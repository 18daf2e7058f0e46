// A kernel for the rows, one for the columns.
//
// Idea       a block for a row takes mean and deviation, the two means of the gradient, and writes dx; then a block for 32 columns
//            walks down all rows, 16384 at most, and a last kernel adds up what there is.
// Limits     65535 * 16384 rows.
// Bottleneck a row is read three times, and once more for the columns, by as few blocks as 32 columns make.
#include "rooftile/families/norm/rungs/backward_columns.h"
#include "rooftile/ops/rms_norm_backward/rms_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormBackwardArgs>& call) {
  return norm::backward::launch_columns<norm::Uncentred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_backward_rungs
