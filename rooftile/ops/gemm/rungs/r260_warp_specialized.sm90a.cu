// A warpgroup that only copies, and two that only multiply.
//
// Idea       one thread asks TMA for stage after stage, of tile after tile; two warpgroups multiply 64 x 256 (64 to 192; or one 64 x 64) each from
//            shared memory by wgmma, one product ahead. Blocks stay: while a tile's results leave, the next one's stages arrive.
// Change     no thread that multiplies makes an address or waits for another one that multiplies.
// Limits     sm_90a; f16, bf16; any strides (operands whose rows TMA cannot take are copied first); k of 1 and more.
// Bottleneck L2: 48 KB for 128 x 256 x 64 products.
// Source     PTX ISA, wgmma; CUTLASS, warp specialisation and persistent kernels.
#include "rooftile/ops/gemm/rungs/wgmma_ring.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_wgmma_operands(
      call, [&]<class T, bool kAlongA, bool kAlongB>(const auto&... operands) -> Status {
        return with_ring_shape<kAlongB, 0, 1, 2, 3, 4, 5, 6, 7>(
            call.config<WgmmaCut>().shape,
            [&]<int kShape>() { return launch_ring<T, kShape, false, kAlongA, kAlongB>(call, operands...); });
      });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
