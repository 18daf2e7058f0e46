// The next step on its way while this one is multiplied.
//
// Idea       a thread's vectors of the next step are asked for before the products of this one are made, and stored behind them,
//            in a second buffer.
// Change     one barrier for a step in place of two, and the way to global memory beside the products.
// Limits     those of vectorized.
// Bottleneck shared memory: a warp's rows are 2 x 4 of 16 lanes' vectors, its columns all 128.
// Source     Volkov and Demmel (2008).
#include "rooftile/ops/gemm/rungs/double_buffer.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

__global__ void __launch_bounds__(kTileThreads, 2)
    double_buffer_kernel(const __grid_constant__ Problem p, unsigned tile_rows, bool vectors) {
  __shared__ StepTiles s[2];
  const BlockPlace block(tile_rows);
  const int thread = static_cast<int>(threadIdx.x);
  const OwnPlace rows{thread / 16 * 4, kTileSide / 2};
  const OwnPlace columns{thread % 16 * 4, kTileSide / 2};
  OwnSums sums;
  add_double_buffered(p, block, rows, columns, s, sums);
  give_sums(p, block, rows, columns, sums, vectors);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_register_tiles(call, double_buffer_kernel); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
