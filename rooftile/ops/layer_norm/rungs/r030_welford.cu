// Mean and squares in one walk.
//
// Idea       the mean moves by each element's share of its difference from it; the squares grow by the product of the differences
//            before and after.
// Change     nothing cancels, differences being as small as the deviation: one walk for the statistics in single, too.
// Limits     rows of at most 16384 elements.
// Bottleneck a warp's lanes are a row apart; a division for each element.
// Source     Welford, Note on a method for calculating corrected sums of squares and products (1962).
#include "rooftile/families/norm/rungs/thread_rows.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) { return norm::launch_one_walk<norm::Centred>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
