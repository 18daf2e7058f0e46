// Rings of rows in shared memory.
//
// Idea       a block's groups of warps have a ring each, to which rows of x and dy come by bulk copies. A group reads a row twice, for the
//            statistics and for dx, and asks for the next in the place of those that all its warps have done with.
// Change     no row waits in registers, so that a thread has more columns and fewer exchanges; one thread computes where a row is, not
//            all: 32 instructions for an element of bf16 in place of 46.
// Limits     sm_90a; rows of up to 32 KiB that begin at multiples of 16 bytes.
// Bottleneck instructions: seven in ten issue slots; then DRAM.
// Source     PTX ISA, cp.async.bulk, mbarrier.
#include "rooftile/families/norm/rungs/backward_ring.h"
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs {

Status ROOFTILE_RUNG(const Call<LayerNormBackwardArgs>& call) {
  return norm::backward::launch_ring<norm::Centred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::layer_norm_backward_rungs
