// A ring of rows in shared memory.
//
// Idea       one warp asks for rows of x and dy by bulk copies as room becomes free; 16 others, in groups that have whole rows, read
//            each twice: for the statistics, and for dx.
// Change     no row waits in registers, so that a thread has more columns and fewer exchanges; nobody but the asking warp computes where
//            rows are; a row's instructions for an element are half as many.
// Limits     sm_90a; rows of up to 32 KiB that begin at multiples of 16 bytes.
// Bottleneck DRAM.
// Source     PTX ISA, cp.async.bulk, mbarrier.
#include "rooftile/families/norm/rungs/backward_ring.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) {
  return norm::backward::launch_ring<norm::Centred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
