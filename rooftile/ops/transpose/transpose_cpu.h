// What the CPU rungs share: one tile, its halves, and items by their size.
#pragma once

#include <cstdint>
#include <cstring>

#include "rooftile/core/rung.h"
#include "rooftile/ops/transpose/transpose.h"
#include "rooftile/ops/transpose/transpose_plan.h"

namespace rooftile::cpu::transpose_rungs {

using transpose_plan::Geometry;

// out[j][i] = in[i][j] for i < m, j < n; strides in bytes.
struct Block {
  const char* in;
  char* out;
  std::int64_t m;
  std::int64_t n;
};

// One matrix of the batch.
inline Block matrix_at(const TransposeArgs& args, const Geometry& g, std::int64_t index) {
  Block block{static_cast<const char*>(args.in.data), static_cast<char*>(args.out.data), g.m, g.n};
  for (int d = g.batch.rank - 1; d >= 0; --d) {
    const auto at = static_cast<std::size_t>(d);
    block.in += index % g.batch.extents[at] * g.batch.in_strides[at];
    block.out += index % g.batch.extents[at] * g.batch.out_strides[at];
    index /= g.batch.extents[at];
  }
  return block;
}

template <int kItemBytes>
void transpose_tile(const Geometry& g, const Block& b) {
  for (std::int64_t i = 0; i < b.m; ++i) {
    const char* in = b.in + i * g.in_row;
    char* out = b.out + i * g.out_column;
    for (std::int64_t j = 0; j < b.n; ++j) std::memcpy(out + j * g.out_row, in + j * g.in_column, kItemBytes);
  }
}

// Below this a tile is not halved any more: 32 x 32 items of 8 bytes are 16 KiB of both sides.
inline constexpr std::int64_t kLeaf = 32;

template <int kItemBytes>
void transpose_recursive(const Geometry& g, const Block& b) {
  if (b.m <= kLeaf && b.n <= kLeaf) return transpose_tile<kItemBytes>(g, b);
  if (b.m >= b.n) {
    const std::int64_t half = b.m / 2;
    transpose_recursive<kItemBytes>(g, {b.in, b.out, half, b.n});
    transpose_recursive<kItemBytes>(g,
                                    {b.in + half * g.in_row, b.out + half * g.out_column, b.m - half, b.n});
  } else {
    const std::int64_t half = b.n / 2;
    transpose_recursive<kItemBytes>(g, {b.in, b.out, b.m, half});
    transpose_recursive<kItemBytes>(g,
                                    {b.in + half * g.in_column, b.out + half * g.out_row, b.m, b.n - half});
  }
}

}  // namespace rooftile::cpu::transpose_rungs
