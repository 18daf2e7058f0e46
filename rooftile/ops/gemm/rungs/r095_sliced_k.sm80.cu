// Warps that share elements of out, and part k.
//
// Idea       a block has a tile of 64 x 64 alone, and each of its four warps all of it: of every step of 32 lines a warp takes 8. At
//            last their sums meet in shared memory, and are added in the order of the warps.
// Change     four times as many tiles for a device that 128 x 128 do not fill, at the same 128 multiply-adds for 6 loads: a smaller
//            tile without slices has less to a thread, or fewer warps than a multiprocessor wants.
// Limits     f32; rows of a and of b of a multiple of 16 bytes.
// Bottleneck fused multiply-adds; twice the way from L2 of a large tile.
// Source     sliced-K: Kerr, Merrill, Demouth and Tran (2017), "CUTLASS: fast linear algebra in CUDA C++".
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  return launch_tiles<Tile<float, TileSize::sliced>, float, CopyWay::turned, CopyWay::along>(call, problem);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
