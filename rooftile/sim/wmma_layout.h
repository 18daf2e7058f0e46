// Which lane of a warp holds which element of a matrix: the registers of the mma instructions for sm_80 and
// newer (PTX ISA, "Matrix Fragments for mma"), of which nvcc makes those of nvcuda::wmma for sm_90a.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rooftile::simt::detail {

inline constexpr unsigned kTileLines = 8;
inline constexpr unsigned kTileRuns = 4;  // per line

// Bit for bit what the registers hold.
enum class MatrixElement : std::uint8_t { float16, bfloat16, tf32, int8, uint8, float32, int32 };

constexpr unsigned bytes_of(MatrixElement element) {
  switch (element) {
    case MatrixElement::float16:
    case MatrixElement::bfloat16:
      return 2;
    case MatrixElement::int8:
    case MatrixElement::uint8:
      return 1;
    case MatrixElement::tf32:
    case MatrixElement::float32:
    case MatrixElement::int32:
      return 4;
  }
  return 0;
}

// A matrix is cut into lines, each as deep as a row of A (or a column of B) is long, and these into tiles of 8
// lines by 4 runs. Lane l holds run l % 4 of line l / 4 of each tile.
struct FragmentLayout {
  MatrixElement element;
  bool lines_are_rows;  // else columns
  bool pairs_first;     // the next tile is 8 lines below, of each 16 lines; else 4 runs along the lines
  bool by_ldmatrix;     // from shared memory
  std::uint8_t lines;
  std::uint8_t depth;       // elements of a line
  std::uint8_t run;         // elements
  std::uint8_t duplicates;  // how often a lane holds each of its elements

  friend constexpr bool operator==(const FragmentLayout&, const FragmentLayout&) = default;
};

struct LinePlace {
  unsigned line;
  unsigned along;
};

constexpr unsigned tiles_of(const FragmentLayout& layout) {
  return layout.lines / kTileLines * (layout.depth / (kTileRuns * layout.run));
}

constexpr LinePlace tile_place(const FragmentLayout& layout, unsigned tile) {
  const unsigned tile_depth = kTileRuns * layout.run;
  const unsigned tiles_along = layout.depth / tile_depth;
  if (!layout.pairs_first) return {kTileLines * (tile / tiles_along), tile_depth * (tile % tiles_along)};
  const unsigned pair = tile / (2 * tiles_along);
  const unsigned in_pair = tile % (2 * tiles_along);
  return {kTileLines * (2 * pair + in_pair % 2), tile_depth * (in_pair / 2)};
}

// The first element of the run that the lane holds in a tile.
constexpr LinePlace run_place(const FragmentLayout& layout, unsigned tile, unsigned lane) {
  const LinePlace first = tile_place(layout, tile);
  return {first.line + lane / kTileRuns, first.along + layout.run * (lane % kTileRuns)};
}

enum class MatrixUse : std::uint8_t { a, b, accumulator };

constexpr FragmentLayout fragment_layout(MatrixUse use, unsigned m, unsigned n, unsigned k,
                                         MatrixElement element) {
  FragmentLayout layout{};
  layout.element = element;
  // The 16 or 32 lines of an operand are rows of mma's A, so that a product of 8 rows is computed transposed.
  const bool transposed = m == 8;
  layout.lines_are_rows = use == MatrixUse::a || (use == MatrixUse::accumulator && !transposed);
  layout.pairs_first = use == MatrixUse::accumulator || (use == MatrixUse::a) != transposed;
  layout.lines = static_cast<std::uint8_t>(layout.lines_are_rows ? m : n);
  layout.depth = static_cast<std::uint8_t>(use != MatrixUse::accumulator ? k : layout.lines_are_rows ? n : m);
  const unsigned bytes = bytes_of(element);
  layout.run = static_cast<std::uint8_t>(use == MatrixUse::accumulator ? 2 : 4 / bytes);
  // As nvcc 13 does it: the loads of __nv_bfloat16 and of tf32 are plain ones, which do not know the space.
  layout.by_ldmatrix =
      use != MatrixUse::accumulator && (element == MatrixElement::float16 || element == MatrixElement::int8 ||
                                        element == MatrixElement::uint8);
  constexpr unsigned kHalvesOfOperand = 16;  // on every architecture, as the first one needed them
  const unsigned held = layout.lines * layout.depth / 32u;
  const bool fixed = use != MatrixUse::accumulator && element == MatrixElement::float16;
  layout.duplicates = static_cast<std::uint8_t>(fixed ? kHalvesOfOperand / held : 1);
  return layout;
}

// Elements of a lane, without duplicates.
constexpr unsigned held_elements(const FragmentLayout& layout) { return tiles_of(layout) * layout.run; }

}  // namespace rooftile::simt::detail
