// Rows cut over all multiprocessors.
//
// Idea       every block has a part of every row in registers; what it found of it is one word in global memory, and each group of
//            warps waits for the words of all blocks.
// Change     a few long rows have all multiprocessors, in place of a cluster for each; rows that have met are stored while others load.
// Limits     sm_90a; a cooperative launch, a block for each multiprocessor; whole rows from 4 KiB on, weight and bias at multiples of 16 bytes;
//            64 KiB of a row for each block; no residual.
// Bottleneck DRAM; of few rows the way there and back, of which one meeting, some 2 us, is not overlapped.
// Source     CUDA Programming Guide, Grid Synchronization; publishing: Merrill and Garland (2016).
#include "rooftile/families/norm/rungs/grid_rows.h"
#include "rooftile/ops/layer_norm/layer_norm.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormArgs>& call) { return norm::launch_grid_rows<norm::Centred>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_rungs
