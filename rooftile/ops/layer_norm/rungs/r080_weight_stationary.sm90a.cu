// Blocks that keep their part of weight and bias.
//
// Idea       a cluster's blocks see the same part of one row after the other, so that each has its weights in shared memory once and for
//            all; groups of a block's warps have rows of their own, which come by bulk copies, two or one ahead.
// Change     weights, two and three times the bytes of a row where every row reads them again, come from L2 once.
// Limits     sm_90a; rows from 1 KiB to 512 KiB, with all weights and no residual, all of whole vectors at multiples of 16 bytes; many
//            rows: they are dealt out beforehand.
// Bottleneck DRAM; multiprocessors that no cluster fits into are idle.
// Source     PTX ISA, cp.async.bulk, st.async, distributed shared memory.
#include "rooftile/families/norm/rungs/stationary_rows.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) {
  return norm::launch_stationary_rows<norm::Centred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
