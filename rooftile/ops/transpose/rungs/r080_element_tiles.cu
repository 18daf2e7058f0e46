// Rows that start anywhere.
//
// Idea       item by item on both sides, as padded_tile does it, but with many loads of a thread on the way
//            at once and no test per item in whole tiles.
// Change     no vectors, hence no alignment; padding in place of the exclusive or.
// Limits     rows without gaps, items aligned to their size.
// Bottleneck L2: a warp's 128 bytes lie across five sectors, and two of a store's are written in part; for
//            items of 1 and 2 bytes, instructions.
#include "rooftile/ops/transpose/rungs/element_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

constexpr int kResidentThreads = 2048;  // of an SM: each has 32 registers

template <class Mover>
__global__ void __launch_bounds__(Mover::kThreads, kResidentThreads / Mover::kThreads)
    element_tiles_kernel(Matrices a, TileGrid grid) {
  __shared__ __align__(16) unsigned char s_tile[Mover::kSharedBytes];
  const Tile tile = place_tile<Mover::kTileM, Mover::kTileN>(a, grid, Mover::kItemBytes);
  Mover mover;
  mover.load(tile, a.in_row);
  mover.put(s_tile);
  __syncthreads();  // the tile is complete
  Mover::store(s_tile, tile, a.out_row);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  return dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    using Mover = ElementTileFor<kItemBytes>;
    ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<Mover::kTileM, Mover::kTileN>(g)));
    return launch(element_tiles_kernel<Mover>,
                  {.grid = dim3(tile_blocks(grid, g)), .block = dim3(Mover::kThreads), .stream = call.stream},
                  matrices(call.args, g), grid);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
