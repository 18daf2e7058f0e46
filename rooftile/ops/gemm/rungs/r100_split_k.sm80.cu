// Tiles in parts along k.
//
// Idea       where there are fewer tiles than blocks that the device holds, each is cut into as many parts as fill it. A second
//            kernel adds up the parts of each tile, always in the same order.
// Change     turned_copies for few tiles of a long k.
// Limits     f32; rows of a and of b of a multiple of 16 bytes. Equal parts: a last round may leave multiprocessors idle.
// Bottleneck fused multiply-adds; the parts' way to memory and back.
// Source     split-K: Kerr, Merrill, Demouth and Tran (2017).
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  return launch_tiles<Tile<float, TileSize::large>, float, CopyWay::turned, CopyWay::along>(call, problem);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
