// A list of short rows, whose transpose is a few long ones.
//
// Idea       few_rows the other way round: a contiguous piece of in goes into shared memory as it lies, by
//            16-byte loads, and the columns are picked out of it.
// Change     rows of out are written side by side.
// Limits     in without gaps between its rows, which have at most 64 bytes.
// Bottleneck DRAM; an even number of columns makes lanes meet in a bank.
#include "rooftile/ops/transpose/rungs/long_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

template <int kItemBytes>
__global__ void __launch_bounds__(kLongBlock) few_columns_kernel(Matrices a, unsigned stretches) {
  using Item = Access<kItemBytes>;
  ROOFTILE_DYN_SHARED(Item, s_piece);  // [kLongTile][n]
  const MatrixPair pair = matrix_pair(a.in, a.out, a.batch, blockIdx.x / stretches);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x % stretches) * kLongTile;
  const int rows = static_cast<int>(a.m - first < kLongTile ? a.m - first : kLongTile);
  const int n = static_cast<int>(a.n);

  load_piece<kItemBytes>(s_piece, pair.in + first * n * kItemBytes, rows * n);
  __syncthreads();  // the piece is complete
  for (int column = 0; column < n; ++column) {
    char* g_row = pair.out + column * a.out_row + first * kItemBytes;
#pragma unroll
    for (int k = 0; k < kLongPerThread; ++k) {
      const int row = static_cast<int>(threadIdx.x) + k * kLongBlock;
      if (row < rows) store_bytes<kItemBytes>(g_row + row * kItemBytes, s_piece[row * n + column]);
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  if (g.items() == 0) return {};
  ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<kLongTile, kLongShort>(g)));
  return dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    return launch(few_columns_kernel<kItemBytes>,
                  {.grid = dim3(tile_blocks(grid, g)),
                   .block = dim3(kLongBlock),
                   .shared_bytes = static_cast<std::size_t>(g.n) * kLongTile * kItemBytes,
                   .stream = call.stream},
                  matrices(call.args, g), grid.m_tiles);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
