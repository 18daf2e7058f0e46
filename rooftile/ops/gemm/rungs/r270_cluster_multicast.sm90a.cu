// What two blocks need comes once.
//
// Idea       a cluster of two blocks has tiles below each other, which need the same columns of b: each block asks for half of them, and TMA
//            writes them into both.
// Change     32 KB from L2 for a block's stage in place of 48.
// Limits     as warp_specialized.
// Bottleneck the tensor cores, at the clock that their power leaves.
// Source     PTX ISA, cp.async.bulk.tensor, multicast::cluster; CUTLASS.
#include "rooftile/ops/gemm/rungs/wgmma_ring.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_wgmma_operands(call, [&]<class T, bool kAlongA, bool kAlongB>(const auto&... operands) {
    return launch_ring<T, 0, 2, kAlongA, kAlongB>(call, operands...);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
