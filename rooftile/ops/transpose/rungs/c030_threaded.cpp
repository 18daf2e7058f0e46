// CPU rung threaded: tiles for all cores; in place, pairs of tiles.
#include <tbb/blocked_range2d.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <array>

#include "rooftile/ops/transpose/transpose_cpu.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {
namespace {

constexpr std::int64_t kTaskSide = 256;  // items: what one task transposes at least

template <int kItemBytes>
void exchange(char* a, char* b) {
  std::array<char, kItemBytes> held;
  std::memcpy(held.data(), a, kItemBytes);
  std::memcpy(a, b, kItemBytes);
  std::memcpy(b, held.data(), kItemBytes);
}

// The items of rows [i, i_end) and columns [j, j_end) above the diagonal change places with their mirror
// images.
template <int kItemBytes>
void exchange_tile(const Geometry& g, char* matrix, std::array<std::int64_t, 2> rows,
                   std::array<std::int64_t, 2> columns) {
  for (std::int64_t i = rows[0]; i < rows[1]; ++i) {
    for (std::int64_t j = std::max(columns[0], i + 1); j < columns[1]; ++j) {
      exchange<kItemBytes>(matrix + i * g.out_row + j * g.out_column,
                           matrix + j * g.out_row + i * g.out_column);
    }
  }
}

template <int kItemBytes>
void exchange_in_place(const Geometry& g, char* matrix) {
  const std::int64_t tiles = transpose_plan::ceil_div(g.m, kLeaf);
  const auto range = [&](std::int64_t tile) {
    return std::array<std::int64_t, 2>{tile * kLeaf, std::min(g.m, (tile + 1) * kLeaf)};
  };
  tbb::parallel_for(std::int64_t{0}, tiles, [&](std::int64_t row) {
    for (std::int64_t column = row; column < tiles; ++column) {
      exchange_tile<kItemBytes>(g, matrix, range(row), range(column));
    }
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TransposeArgs>& call) {
  const auto& g = call.config<Geometry>();
  return transpose_plan::dispatch_item(g.item_bytes, [&]<int kItemBytes>() -> Status {
    tbb::parallel_for(std::int64_t{0}, g.batch.count, [&](std::int64_t index) {
      const Block matrix = matrix_at(call.args, g, index);
      if (g.in_place) return exchange_in_place<kItemBytes>(g, matrix.out);
      tbb::parallel_for(tbb::blocked_range2d<std::int64_t>(0, matrix.m, kTaskSide, 0, matrix.n, kTaskSide),
                        [&](const auto& part) {
                          const std::int64_t i = part.rows().begin();
                          const std::int64_t j = part.cols().begin();
                          transpose_recursive<kItemBytes>(g, {matrix.in + i * g.in_row + j * g.in_column,
                                                              matrix.out + j * g.out_row + i * g.out_column,
                                                              part.rows().end() - i, part.cols().end() - j});
                        });
    });
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
