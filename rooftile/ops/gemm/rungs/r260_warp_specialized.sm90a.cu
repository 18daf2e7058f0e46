// A warpgroup that only copies, and two that only multiply.
//
// Idea       one thread asks TMA for stage after stage, of tile after tile; two warpgroups multiply 64 x 256 (128, 64; or one 64 x 64) each from
//            shared memory by wgmma, one product ahead. Blocks stay: while a tile's results leave, the next one's stages arrive.
// Change     no thread that multiplies makes an address or waits for another one that multiplies.
// Limits     sm_90a; f16, bf16; any strides (operands whose rows TMA cannot take are copied first); k of 1 and more.
// Bottleneck L2: 48 KB for 128 x 256 x 64 products.
// Source     PTX ISA, wgmma; CUTLASS, warp specialisation and persistent kernels.
#include "rooftile/ops/gemm/rungs/wgmma_ring.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  return with_wgmma_operands(call,
                             [&]<class T, bool kAlongA, bool kAlongB>(const auto&... operands) -> Status {
                               switch (call.config<WgmmaCut>().shape) {
                                 case 0:
                                   return launch_ring<T, 0, 1, kAlongA, kAlongB>(call, operands...);
                                 case 1:
                                   return launch_ring<T, 1, 1, kAlongA, kAlongB>(call, operands...);
                                 case 2:
                                   return launch_ring<T, 2, 1, kAlongA, kAlongB>(call, operands...);
                                 case 3:
                                   return launch_ring<T, 3, 1, kAlongA, kAlongB>(call, operands...);
                                 default:
                                   return launch_ring<T, 4, 1, kAlongA, kAlongB>(call, operands...);
                               }
                             });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
