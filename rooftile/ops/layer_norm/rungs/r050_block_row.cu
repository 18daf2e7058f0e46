// A block for a row of any length.
//
// Idea       512 threads side by side in the row, eight elements on their way for each; statistics in double.
// Change     16 warps' bytes of a row on their way; rows of any length and any strides are served.
// Limits     none.
// Bottleneck the row is read twice, element by element.
#include "rooftile/families/norm/rungs/block_rows.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) { return norm::launch_block_rows<norm::Centred>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
