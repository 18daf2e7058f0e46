// A warp for a row.
//
// Idea       the lanes side by side in a row, whose elements stay in their registers; they meet in a butterfly.
// Change     4 sectors for each load in place of 32; the row is read once.
// Limits     rows of at most 1024 elements, of any strides.
// Bottleneck loads and stores of single elements: 2 or 4 bytes for each instruction of the way there.
#include "rooftile/families/norm/rungs/warp_rows.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) { return norm::launch_warp_rows<norm::Centred>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
