// 8 x 8 elements of 16 bits, as words of two: what ldmatrix, stmatrix and movmatrix move.
#pragma once

#include <array>
#include <cstdint>

#include "rooftile/sim/wmma_layout.h"

namespace rooftile::simt::detail {

inline constexpr unsigned kRowBytes = 16;
inline constexpr unsigned kRowWords = kRowBytes / sizeof(std::uint32_t);

using MatrixTile = std::array<std::array<std::uint32_t, kRowWords>, kTileLines>;

// The word of a row of the tile, or of its transpose.
inline std::uint32_t tile_word(const MatrixTile& tile, unsigned row, unsigned word, bool transposed) {
  if (!transposed) return tile[row][word];
  const auto half_of = [&](unsigned line) { return tile[line][row / 2] >> 16 * (row % 2) & 0xffffu; };
  return half_of(2 * word) | half_of(2 * word + 1) << 16;
}

}  // namespace rooftile::simt::detail
