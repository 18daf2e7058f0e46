// A tile of the block's tile for each warp.
//
// Idea       the lanes of a warp stand 8 x 4 on 64 x 32 elements: of a they read 8 different vectors at once and of b 4, and the
//            others come along.
// Change     a warp reads 96 different elements for 2048 products in place of 136 (4 x 2 vectors of rows, 32 of columns).
// Limits     those of vectorized.
// Bottleneck issue slots: 4 loads and the copies' instructions beside 64 multiply-adds.
// Source     Kerr, Merrill, Demouth and Tran (2017), "CUTLASS: fast linear algebra in CUDA C++".
#include "rooftile/ops/gemm/rungs/double_buffer.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

__global__ void __launch_bounds__(kTileThreads, 2)
    warp_tile_kernel(const __grid_constant__ Problem p, unsigned tile_rows, bool vectors) {
  __shared__ StepTiles s[2];
  const BlockPlace block(tile_rows);
  const OwnPlace rows{warp_index() / 4 * 64 + lane_index() % 8 * 4, 32};
  const OwnPlace columns{warp_index() % 4 * 32 + lane_index() / 8 * 4, 16};
  OwnSums sums;
  add_double_buffered(p, block, rows, columns, s, sums);
  give_sums(p, block, rows, columns, sums, vectors);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_register_tiles(call, warp_tile_kernel); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
