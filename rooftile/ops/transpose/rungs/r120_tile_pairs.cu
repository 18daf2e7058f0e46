// Square matrices in place.
//
// Idea       a block takes a tile and its mirror image, has read both before it writes either, and so needs
//            no second matrix. No other block touches the two.
// Change     two tiles per block; blocks below the diagonal have nothing to do.
// Limits     square matrices with rows; in place or not.
// Bottleneck DRAM: half the traffic of a matrix's copy goes against the order of the rows.
#include "rooftile/ops/transpose/rungs/element_tile.h"
#include "rooftile/ops/transpose/rungs/vector_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

// Two tiles in the registers of a block: one register block of each per thread.
template <int kItemBytes>
using PairVectorTile =
    std::conditional_t<kItemBytes == 1, VectorTile<kItemBytes, 8, 8, 64, LoadPolicy::cached>,
                       VectorTile<kItemBytes, 16, 16, 256, LoadPolicy::cached>>;
template <int kItemBytes>
using PairElementTile = ElementTile<kItemBytes, 32, 32, 256>;

template <class Mover>
__global__ void __launch_bounds__(Mover::kThreads) tile_pairs_kernel(Matrices a, TileGrid grid) {
  static_assert(Mover::kTileM == Mover::kTileN, "a tile's mirror image is a tile");
  ROOFTILE_DYN_SHARED(unsigned char, s_upper);
  unsigned char* const s_lower = s_upper + Mover::kSharedBytes;
  const TilePlace place = tile_place(grid);
  if (place.m_tile > place.n_tile) return;
  const MatrixPair pair = matrix_pair(a.in, a.out, a.batch, place.matrix);
  // Each tile's `out` is where its own columns go: the place of the other.
  const Tile upper =
      tile_at<Mover::kTileM, Mover::kTileN>(a, pair, place.m_tile, place.n_tile, Mover::kItemBytes);
  const Tile lower =
      tile_at<Mover::kTileM, Mover::kTileN>(a, pair, place.n_tile, place.m_tile, Mover::kItemBytes);
  Mover upper_mover;
  upper_mover.load(upper, a.in_row);
  if (place.m_tile != place.n_tile) {
    Mover lower_mover;
    lower_mover.load(lower, a.in_row);
    lower_mover.put(s_lower);
  }
  upper_mover.put(s_upper);
  __syncthreads();  // both tiles are complete, and nobody reads them from global memory any more
  Mover::store(s_upper, upper, a.out_row);
  if (place.m_tile != place.n_tile) Mover::store(s_lower, lower, a.out_row);
}

template <class Mover>
Status launch_pairs(StreamRef stream, const TransposeArgs& args, const Geometry& g) {
  ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<Mover::kTileM, Mover::kTileN>(g)));
  return launch(tile_pairs_kernel<Mover>,
                {.grid = dim3(tile_blocks(grid, g)),
                 .block = dim3(Mover::kThreads),
                 .shared_bytes = std::size_t{2} * Mover::kSharedBytes,
                 .stream = stream},
                matrices(args, g), grid);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  return dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    return g.has_vector_rows() ? launch_pairs<PairVectorTile<kItemBytes>>(call.stream, call.args, g)
                               : launch_pairs<PairElementTile<kItemBytes>>(call.stream, call.args, g);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
