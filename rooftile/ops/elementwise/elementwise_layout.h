// How tensors lie that are visited element by element together: dimensions merged, packs as wide as 16 bytes allow for
// the widest dtype, and for each tensor how a pack of it is read or written.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "rooftile/core/dtype.h"
#include "rooftile/core/view.h"

namespace rooftile::elementwise_layout {

inline constexpr int kVectorBytes = 16;
inline constexpr int kLineBytes =
    128;  // of the caches: what the accesses of a warp should not share with another
inline constexpr int kMostOperands = 4;  // three inputs, then the output
inline constexpr int kMostOuter = kMaxRank - 1;

// One tensor. A pack of it is moved in pieces of `width` bytes, `pitch` bytes apart: one piece of 16 bytes where it is
// aligned, narrower ones where it is not, element by element where its elements lie apart (pitch 0: they are one).
struct Operand {
  std::int64_t pitch = 0;         // from piece to piece
  std::int64_t element_step = 0;  // bytes from an element to the next one of the innermost dimension
  int size = 1;                   // bytes of an element
  int width = 1;                  // of a piece
  std::array<std::int64_t, kMostOuter> outer_steps{};  // bytes, of each outer dimension
};

// The elements of out in its own order: rows of `columns` elements, in packs of `pack`. The packs of a single row begin `lead`
// elements before the first one, at a line of out.
struct Layout {
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  int pack = 1;
  int lead = 0;
  int inputs = 0;
  int outer = 0;  // dimensions around the rows; 0: one row
  std::array<std::int64_t, kMostOuter> extents{};
  std::array<Operand, kMostOperands> operands{};  // the inputs, then the output

  [[nodiscard]] std::int64_t packs_per_row() const { return (lead + columns + pack - 1) / pack; }
  [[nodiscard]] std::int64_t packs() const { return rows * packs_per_row(); }
  [[nodiscard]] const Operand& output() const { return operands[static_cast<std::size_t>(inputs)]; }
  // One row, and every pack of every tensor is one aligned access, but those at the ends.
  [[nodiscard]] bool aligned() const;
  // Every pack of every tensor is one aligned access, but those at the ends of rows, or one element for all of a row.
  [[nodiscard]] bool has_aligned_rows() const;
};

// Packs of at most `most_elements`. Precondition: 1 to 3 inputs that are broadcast to out's shape, which has an element at
// least.
[[nodiscard]] Layout layout_of(std::span<const ConstTensorView> inputs, const ConstTensorView& out,
                               int most_elements = kVectorBytes);

// `shape` becomes what it and `other` are broadcast to, as NumPy has it; false where they are not.
[[nodiscard]] bool broadcast(Extents& shape, const Extents& other);

}  // namespace rooftile::elementwise_layout
