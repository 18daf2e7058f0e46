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

// Of the bound on an H200, cold, where element_tiles has 0.51, 0.56, 0.86 and 0.86:
//   u8   16383 x 16385: 0.83 by 256 x 256 and 256 threads of 80 registers, 0.79 by 256 x 128 and by 128 x 128
//        of 64; 8191 x 4097, where large tiles leave the last wave of blocks half empty: 0.69, 0.69, 0.74
//   u16  8191 x 8193: 0.87, 400 x 713 x 701: 0.85; vectors of 4 and 8 bytes: 0.73, 0.76
//   f32  4097 x 8191: 0.92, 400 x 713 x 701: 0.97; 256 threads: 0.80; 128 x 128: 0.90
//   f64  8191 x 4097: 0.95, 33 x 500001: 0.88; 512 threads: 0.95, 0.81
//                            item rows columns threads blocks vector at once align
using ByteTile = ShiftedTile<1, 256, 256, 256, 3, 16, 1, 16>;
using SmallByteTile = ShiftedTile<1, 128, 128, 256, 4, 16, 1, 16>;
using HalfTile = ShiftedTile<2, 128, 64, 256, 4, 16, 2, 32>;
using WordTile = ShiftedTile<4, 128, 64, 512, 4, 4, 8, 32>;
using DoubleTile = ShiftedTile<8, 64, 64, 256, 5, 8, 2, 32>;

// So few large tiles that their last wave counts, or matrices smaller than a small tile.
bool wants_small_tiles(const Geometry& g, const DeviceProperties& device) {
  constexpr int kWaves = 3;
  const std::int64_t blocks = g.items() / (ByteTile::kAdvance * ByteTile::kColumns);
  return g.n < SmallByteTile::kColumns || g.m < SmallByteTile::kRows ||
         blocks < kWaves * ByteTile::kBlocksPerSm * std::int64_t{device.multiprocessors};
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

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  switch (g.item_bytes) {
    case 1:
      return wants_small_tiles(g, call.device) ? launch_shifted<SmallByteTile>(call.stream, call.args, g)
                                               : launch_shifted<ByteTile>(call.stream, call.args, g);
    case 2:
      return launch_shifted<HalfTile>(call.stream, call.args, g);
    case 4:
      return launch_shifted<WordTile>(call.stream, call.args, g);
    default:
      return launch_shifted<DoubleTile>(call.stream, call.args, g);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
