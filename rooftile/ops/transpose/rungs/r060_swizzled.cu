// 16 bytes everywhere.
//
// Idea       a thread turns a square of items in registers, so that what goes into shared memory are vectors
//            of the transposed tile; an exclusive or of the chunk's number with the block's keeps the banks
//            apart without padding, which would misalign the vectors.
// Change     16-byte accesses to shared memory, too, two per vector in place of eight; items of 1 to 16
//            bytes.
// Limits     rows that 16-byte accesses cover exactly.
// Bottleneck DRAM.
// Source     the exclusive or: CUTLASS's swizzles, and TMA's, see device/swizzle.h; byte permutations: PTX
//            ISA, prmt.
#include "rooftile/ops/transpose/rungs/vector_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

template <class Mover>
__global__ void __launch_bounds__(Mover::kThreads) swizzled_kernel(Matrices a, TileGrid grid) {
  ROOFTILE_DYN_SHARED(unsigned char, s_tile);
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
    using Mover = VectorTileFor<kItemBytes>;
    ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<Mover::kTileM, Mover::kTileN>(g)));
    return launch(swizzled_kernel<Mover>,
                  {.grid = dim3(tile_blocks(grid, g)),
                   .block = dim3(Mover::kThreads),
                   .shared_bytes = Mover::kSharedBytes,
                   .stream = call.stream},
                  matrices(call.args, g), grid);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
