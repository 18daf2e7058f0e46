// A matrix of a few long rows, whose transpose is a list of short ones.
//
// Idea       a stretch of columns of all rows makes one contiguous piece of out: it is put together in shared
//            memory, rows read side by side, and leaves as it lies, by 16-byte stores.
// Change     a tile as high as the matrix in place of one that is mostly outside it.
// Limits     out without gaps between its rows, which have at most 64 bytes.
// Bottleneck DRAM; an even number of rows makes lanes meet in a bank.
#include "rooftile/ops/transpose/rungs/long_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

constexpr int kRowsAtOnce = 4;  // of in; their loads are on the way together

// kRows, where it is not 0, is the number of rows: no load then waits for a test of its row. (f32 3 x 10^7 on
// an H200: 1.03 of the bound against 0.81.)
template <int kItemBytes, int kRows>
__global__ void __launch_bounds__(kLongBlock) few_rows_kernel(Matrices a, unsigned stretches) {
  using Item = Access<kItemBytes>;
  constexpr int kGroup = kRows > 0 ? kRows : kRowsAtOnce;
  ROOFTILE_DYN_SHARED(Item, s_piece);  // [kLongTile][m]
  const MatrixPair pair = matrix_pair(a.in, a.out, a.batch, blockIdx.x / stretches);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x % stretches) * kLongTile;
  const int columns = static_cast<int>(a.n - first < kLongTile ? a.n - first : kLongTile);
  const int m = kRows > 0 ? kRows : static_cast<int>(a.m);
  const int lane = static_cast<int>(threadIdx.x);

  for (int row = 0; row < m; row += kGroup) {
    Item r_items[kGroup][kLongPerThread];
#pragma unroll
    for (int r = 0; r < kGroup; ++r) {
      const char* g_row = pair.in + (row + r) * a.in_row + (first + lane) * kItemBytes;
#pragma unroll
      for (int k = 0; k < kLongPerThread; ++k) {
        if ((kRows > 0 || row + r < m) && lane + k * kLongBlock < columns) {
          r_items[r][k] = load_bytes<kItemBytes>(g_row + k * kLongBlock * kItemBytes);
        }
      }
    }
#pragma unroll
    for (int r = 0; r < kGroup; ++r) {
#pragma unroll
      for (int k = 0; k < kLongPerThread; ++k) {
        const int column = lane + k * kLongBlock;
        if ((kRows > 0 || row + r < m) && column < columns) s_piece[column * m + row + r] = r_items[r][k];
      }
    }
  }
  __syncthreads();  // the piece is complete
  store_piece<kItemBytes>(s_piece, pair.out + first * m * kItemBytes, columns * m);
}

template <int kItemBytes>
auto few_rows_for(std::int64_t m) {
  switch (m) {
    case 1:
      return &few_rows_kernel<kItemBytes, 1>;
    case 2:
      return &few_rows_kernel<kItemBytes, 2>;
    case 3:
      return &few_rows_kernel<kItemBytes, 3>;
    case 4:
      return &few_rows_kernel<kItemBytes, 4>;
    default:
      return &few_rows_kernel<kItemBytes, 0>;
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<kLongShort, kLongTile>(g)));
  return dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    return launch(few_rows_for<kItemBytes>(g.m),
                  {.grid = dim3(tile_blocks(grid, g)),
                   .block = dim3(kLongBlock),
                   .shared_bytes = static_cast<std::size_t>(g.m) * kLongTile * kItemBytes,
                   .stream = call.stream},
                  matrices(call.args, g), grid.n_tiles);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
