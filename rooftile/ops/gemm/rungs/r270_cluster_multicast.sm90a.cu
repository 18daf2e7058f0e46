// What several blocks need comes once.
//
// Idea       a cluster has tiles below each other, which need the same columns of b, and side by side, which need the same rows of a: two, four
//            or eight blocks. Those that need the same take turns, step by step: one asks TMA for it, which writes it into all of them.
// Change     256 columns by two blocks: 32 KB from L2 for a block's stage in place of 48. 72 columns by 8 x 1: 18 in place of 25.
// Limits     as warp_specialized.
// Bottleneck L2, where an operand's rows straddle its lines; else the tensor cores, at the clock that their power leaves.
// Source     PTX ISA, cp.async.bulk.tensor, multicast::cluster; CUTLASS.
#include "rooftile/ops/gemm/rungs/wgmma_ring.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_wgmma_operands(
      call, [&]<class T, bool kAlongA, bool kAlongB>(const auto&... operands) -> Status {
        return with_ring_shape<kAlongB, 0, 2, 5, 7, 8, 9>(call.config<WgmmaCut>().shape, [&]<int kShape>() {
          return launch_ring<T, kShape, true, kAlongA, kAlongB>(call, operands...);
        });
      });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
