// Odd rows of bytes, by tiles as tall as the matrix.
//
// Idea       rows of out without gaps are one contiguous piece of memory: a tile that holds all rows of in writes
//            such a piece, across the ends of out's rows.
// Change     shifted_tiles that do not end along m: no rows that two tiles read, and a chunk with two writers only
//            where a tile begins or ends.
// Limits     items of a byte, columns of 16 to 720 of them, out without gaps.
// Bottleneck rows of in begin and end within a sector that two tiles read; all loads of a tile end before its stores.
#include "rooftile/ops/transpose/rungs/column_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    whole_columns_kernel(Matrices a, TileGrid grid) {
  ROOFTILE_DYN_SHARED(std::uint32_t, s_words);
  const ShiftedPlace place = shifted_place<T>(a, grid);
  load_shifted<T>(place, s_words);
  __syncthreads();  // the tile is complete
  store_columns<T>(place, s_words);
  store_seams<T>(place, s_words);
}

// A block loads four rows for each kColumns / 16 threads at once: 256 rows, 128 or 64. What counts is how full the last time
// is, how wide rows are, and that 40 KiB or more stay L1's, which is why tall tiles come in threes. Of a copy on an H100 (100
// to 200 MB, the worse of cold and clean; shifted_tiles in brackets): 131 x 131 0.54 (0.43); 255 x 2001 0.89 (0.70),
// 499 x 1001 0.90 (0.67), 555 x 555 0.89 (0.85), 601 x 801 0.90 (0.89); 333 x 1501 0.86 (0.65), 355 x 353 0.83 (0.78);
// 713 x 701 0.90 (0.78), 701 x 713 0.88 (0.72). Above, shifted_tiles is as fast: 803 x 805 0.86 (0.90).
using FlatTile = ColumnTile<256, 256, 3>;  // few rows
using NarrowTile = ColumnTile<64, 256, 4>;
using WideTile = ColumnTile<256, 512, 2>;
using TallTile = ColumnTile<64, 256, 3>;
constexpr int kMostFlat = 144;  // rows
constexpr int kMostOnce = 256;  // of a narrow tile
constexpr int kMostWide = 384;
constexpr int kMostNarrow = 624;

template <class T>
Status launch_columns(const Call<TransposeArgs>& call, const Geometry& g) {
  ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<T::kRows, T::kColumns>(g)));
  return launch(whole_columns_kernel<T>,
                {.grid = dim3(tile_blocks(grid, g)),
                 .block = dim3(T::kThreads),
                 .shared_bytes = static_cast<std::size_t>(T::shared_bytes(static_cast<int>(g.m))),
                 .stream = call.stream},
                matrices(call.args, g), grid);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  if (g.m <= kMostFlat) return launch_columns<FlatTile>(call, g);
  if (g.m <= kMostOnce) return launch_columns<NarrowTile>(call, g);
  if (g.m <= kMostWide) return launch_columns<WideTile>(call, g);
  if (g.m <= kMostNarrow) return launch_columns<NarrowTile>(call, g);
  return launch_columns<TallTile>(call, g);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
