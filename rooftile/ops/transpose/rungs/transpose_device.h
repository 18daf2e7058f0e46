// What the rungs of transpose share: matrices as kernels see them, tiles and their places, items by their
// size.
#pragma once

#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/core/status.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/transpose/transpose.h"
#include "rooftile/ops/transpose/transpose_plan.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

using transpose_plan::dispatch_item;
using transpose_plan::Geometry;

// out[j][i] = in[i][j]; strides in bytes.
struct Matrices {
  const char* in;
  char* out;
  std::int64_t m;
  std::int64_t n;
  std::int64_t in_row;
  std::int64_t out_row;
  transpose_plan::Batch batch;
};

inline Matrices matrices(const TransposeArgs& args, const Geometry& g) {
  return {static_cast<const char*>(args.in.data),
          static_cast<char*>(args.out.data),
          g.m,
          g.n,
          g.in_row,
          g.out_row,
          g.batch};
}

// The two starts of one matrix of the batch.
struct MatrixPair {
  const char* in;
  char* out;
};

__device__ __forceinline__ MatrixPair matrix_pair(const char* in, char* out,
                                                  const transpose_plan::Batch& batch, std::int64_t index) {
  for (int d = batch.rank - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t here = d == 0 ? index : index % batch.extents[at];
    if (d > 0) index /= batch.extents[at];
    in += here * batch.in_strides[at];
    out += here * batch.out_strides[at];
  }
  return {in, out};
}

// A tile: where it starts on both sides, and how much of it lies inside the matrix.
struct Tile {
  const char* in;
  char* out;
  int rows;     // of in
  int columns;  // of in
};

struct TileGrid {
  unsigned m_tiles;
  unsigned n_tiles;
  bool along_rows;  // the order of the blocks: see tile_place
};

inline constexpr std::int64_t kBurstBytes = 64;  // what DRAM brings at once

inline constexpr std::int64_t kMaxBlocks = 2147483647;

// A block per tile of every matrix.
template <int kTileM, int kTileN>
Result<TileGrid> tile_grid(const Geometry& g) {
  const std::int64_t m_tiles = transpose_plan::ceil_div(g.m, kTileM);
  const std::int64_t n_tiles = transpose_plan::ceil_div(g.n, kTileN);
  if (m_tiles > kMaxBlocks / n_tiles || m_tiles * n_tiles > kMaxBlocks / g.batch.count) {
    return unsupported("more than 2^31 - 1 tiles: transpose the batch in parts");
  }
  return TileGrid{static_cast<unsigned>(m_tiles), static_cast<unsigned>(n_tiles),
                  g.in_row % kBurstBytes != 0 && g.out_row % kBurstBytes == 0};
}

inline unsigned tile_blocks(const TileGrid& grid, const Geometry& g) {
  return grid.m_tiles * grid.n_tiles * static_cast<unsigned>(g.batch.count);
}

template <int kTileM, int kTileN>
__device__ __forceinline__ Tile tile_at(const Matrices& a, const MatrixPair& pair, unsigned m_tile,
                                        unsigned n_tile, int item_bytes) {
  const std::int64_t i = static_cast<std::int64_t>(m_tile) * kTileM;
  const std::int64_t j = static_cast<std::int64_t>(n_tile) * kTileN;
  return {pair.in + i * a.in_row + j * item_bytes, pair.out + j * a.out_row + i * item_bytes,
          static_cast<int>(a.m - i < kTileM ? a.m - i : kTileM),
          static_cast<int>(a.n - j < kTileN ? a.n - j : kTileN)};
}

// Which tile of which matrix a block takes. Blocks walk down the columns of in, which are the rows of out:
// those that run together write next to each other. DRAM minds scattered writes more than scattered reads
// (f32 16384^2 on an H200: 0.985 of the bound against 0.968 the other way round). Where rows of in, and not
// those of out, begin within a burst of DRAM, neighbouring tiles of in share bursts, and blocks walk along
// the rows, so that both find them in L2 (f32 100000 x 1000: 0.89 against 0.75).
struct TilePlace {
  unsigned matrix;
  unsigned m_tile;
  unsigned n_tile;
};
__device__ __forceinline__ TilePlace tile_place(const TileGrid& grid) {
  const unsigned tiles = grid.m_tiles * grid.n_tiles;
  const unsigned tile = blockIdx.x % tiles;
  const unsigned matrix = blockIdx.x / tiles;
  if (grid.along_rows) return {matrix, tile / grid.n_tiles, tile % grid.n_tiles};
  return {matrix, tile % grid.m_tiles, tile / grid.m_tiles};
}

template <int kTileM, int kTileN>
__device__ __forceinline__ Tile place_tile(const Matrices& a, const TileGrid& grid, int item_bytes) {
  const TilePlace place = tile_place(grid);
  return tile_at<kTileM, kTileN>(a, matrix_pair(a.in, a.out, a.batch, place.matrix), place.m_tile,
                                 place.n_tile, item_bytes);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
