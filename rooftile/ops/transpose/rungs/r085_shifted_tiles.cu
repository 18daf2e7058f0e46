// Rows that start anywhere, by aligned accesses.
//
// Idea       what is misaligned is a row, not the memory under it: load the aligned vectors that cover it, shift
//            them into place in registers, and let every tile's piece of a row of out start at a boundary of its
//            own, so that stores are whole chunks of 16 bytes with one writer each.
// Change     16 bytes per store, and per load of small items, in place of an item; a few rows are read twice.
// Limits     rows without gaps, items of 1 to 8 bytes, aligned to their size.
// Bottleneck L2: rows of in still begin and end within a sector that two tiles read.
// Source     the funnel shift: CUDA C++ Programming Guide, __funnelshift_r; byte permutations: PTX ISA, prmt.
#include "rooftile/ops/transpose/rungs/shifted_load.h"
#include "rooftile/ops/transpose/rungs/shifted_store.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(T::kThreads, T::kBlocksPerSm)
    shifted_tiles_kernel(Matrices a, TileGrid grid) {
  ROOFTILE_DYN_SHARED(typename T::Word, s_words);
  const ShiftedPlace place = shifted_place<T>(a, grid);
  load_shifted<T>(place, s_words);
  __syncthreads();  // the tile is complete
  store_shifted<T>(place, s_words);
}

// Of the bound on an H200, caches cold and clean, where element_tiles has 0.49 (u8) to 0.87 (f64):
//   u16  8191 x 8193: 0.84 by 128 x 64, 0.80 by 256 x 64; 400 x 713 x 701: 0.82, 0.85
//   f32  4097 x 8191: 0.91 by 128 x 96, 0.89 by 128 x 64, 0.87 by 128 x 32; 400 x 713 x 701: 0.946, 0.952, 0.927
//   f64  8191 x 4097: 0.93
//                            item rows columns threads blocks vector at once align
using HalfTile = ShiftedTile<2, 128, 64, 256, 4, 16, 2, 32>;
using TallHalfTile = ShiftedTile<2, 256, 64, 256, 4, 16, 2, 32>;
using WordTile = ShiftedTile<4, 128, 64, 512, 4, 4, 8, 32>;
using WideWordTile = ShiftedTile<4, 128, 96, 512, 3, 4, 8, 32>;
using DoubleTile = ShiftedTile<8, 64, 64, 256, 5, 8, 2, 32>;

// Bytes, by what one block of each kind keeps an H200 busy, in tenths of a nanosecond (mean of eleven odd shapes, 1 to 256 MB, cold); the least
// sum is taken. Of the bound, clean: 16383 x 16385 0.81 by large tiles, 0.79 by sectors; 8191 x 4097 0.75 by sectors, 0.70 by large
// ones; 400 x 713 x 701 0.76 by tall tiles, which end where the matrix does, 0.69 by sectors; 1000 x 355 x 353 0.63 by columns, 0.56
// by tall ones.
using LargeByteTile = ShiftedTile<1, 256, 256, 256, 3, 16, 1, 16>;
using SectorByteTile = ShiftedTile<1, 256, 64, 256, 5, 16, 1, 32>;  // pieces of out are whole sectors
using TallByteTile = ShiftedTile<1, 256, 64, 256, 5, 16, 1, 16>;
using ColumnByteTile = ShiftedTile<1, 512, 64, 256, 4, 16, 1, 16>;  // holds whole columns of up to 496 rows
using SmallByteTile = ShiftedTile<1, 128, 128, 256, 5, 16, 1, 16>;

template <class T>
std::int64_t blocks_of(const Geometry& g) {
  return transpose_plan::ceil_div(g.m, T::kAdvance) * transpose_plan::ceil_div(g.n, T::kColumns) *
         g.batch.count;
}

enum class ByteTile { large, sector, tall, column, small };
ByteTile fastest_byte_tile(const Geometry& g, const DeviceProperties& device) {
  constexpr std::int64_t kWaves =
      3;  // of fewer large tiles the last round leaves too much of the device idle
  ByteTile best = ByteTile::sector;
  std::int64_t least = 86 * blocks_of<SectorByteTile>(g);
  const auto offer = [&](ByteTile tile, std::int64_t cost) {
    if (cost >= least) return;
    best = tile;
    least = cost;
  };
  offer(ByteTile::tall, 92 * blocks_of<TallByteTile>(g));
  offer(ByteTile::small, 99 * blocks_of<SmallByteTile>(g));
  if (g.m <= ColumnByteTile::kAdvance) offer(ByteTile::column, 159 * blocks_of<ColumnByteTile>(g));
  const std::int64_t large = blocks_of<LargeByteTile>(g);
  if (large >= kWaves * LargeByteTile::kBlocksPerSm * device.multiprocessors)
    offer(ByteTile::large, 351 * large);
  return best;
}

// What tiles cover of one dimension, the last one hanging over.
constexpr std::int64_t covered(std::int64_t extent, int tile) {
  return transpose_plan::ceil_div(extent, tile) * tile;
}

// Tall tiles are some 5 % slower where either fits, and short ones waste more of the last row of tiles.
bool wants_tall_tiles(const Geometry& g) {
  return 20 * covered(g.m, HalfTile::kAdvance) > 21 * covered(g.m, TallHalfTile::kAdvance);
}

// Wide tiles are 2 % faster where either fits.
bool wants_wide_tiles(const Geometry& g) {
  return 50 * covered(g.n, WideWordTile::kColumns) <= 51 * covered(g.n, WordTile::kColumns);
}

template <class T>
Status launch_shifted(StreamRef stream, const TransposeArgs& args, const Geometry& g) {
  ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<T::kAdvance, T::kColumns>(g)));
  return launch(shifted_tiles_kernel<T>,
                {.grid = dim3(tile_blocks(grid, g)),
                 .block = dim3(T::kThreads),
                 .shared_bytes = T::kSharedBytes,
                 .stream = stream},
                matrices(args, g), grid);
}

Status launch_bytes(const Call<TransposeArgs>& call, const Geometry& g) {
  switch (fastest_byte_tile(g, call.device)) {
    case ByteTile::large:
      return launch_shifted<LargeByteTile>(call.stream, call.args, g);
    case ByteTile::sector:
      return launch_shifted<SectorByteTile>(call.stream, call.args, g);
    case ByteTile::tall:
      return launch_shifted<TallByteTile>(call.stream, call.args, g);
    case ByteTile::column:
      return launch_shifted<ColumnByteTile>(call.stream, call.args, g);
    case ByteTile::small:
      break;
  }
  return launch_shifted<SmallByteTile>(call.stream, call.args, g);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  switch (g.item_bytes) {
    case 1:
      return launch_bytes(call, g);
    case 2:
      return wants_tall_tiles(g) ? launch_shifted<TallHalfTile>(call.stream, call.args, g)
                                 : launch_shifted<HalfTile>(call.stream, call.args, g);
    case 4:
      return wants_wide_tiles(g) ? launch_shifted<WideWordTile>(call.stream, call.args, g)
                                 : launch_shifted<WordTile>(call.stream, call.args, g);
    default:
      return launch_shifted<DoubleTile>(call.stream, call.args, g);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
