// The same by vectors of 16 bytes.
//
// Idea       lanes ask for 16 bytes at a time: a quarter or an eighth of the requests.
// Change     rows begin at multiples of 16 bytes.
// Limits     rows of up to 32 KiB that begin at multiples of 16 bytes.
// Bottleneck DRAM; the wait of a multiprocessor's one block.
#include "rooftile/families/norm/rungs/backward_fused.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) {
  return norm::backward::launch_fused<norm::Centred, true>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
