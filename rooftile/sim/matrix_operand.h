// An operand of wgmma in shared memory, as its descriptor tells (device/sm90a/matrix_descriptor.h): M or N rows by 16
// elements of 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <vector>

#include "rooftile/core/tensor_map_spec.h"

namespace rooftile::simt::detail {

struct MatrixOperand {
  const std::byte* start = nullptr;
  std::uint32_t leading_bytes = 0;
  std::uint32_t stride_bytes = 0;
  TileSwizzle swizzle = TileSwizzle::none;
  bool mn_major = false;
  friend bool operator==(const MatrixOperand&, const MatrixOperand&) = default;
};

inline constexpr unsigned kOperandDepth = 16;  // elements of k
inline constexpr unsigned kCoreRows = 8;
inline constexpr unsigned kCoreRowBytes = 16;

// A core's 16 bytes: `row` of m or n and `k` are those of its first element, of which the others follow along k, or,
// MN-major, along m or n.
struct CoreRow {
  const std::byte* address;
  unsigned row;
  unsigned k;
};
// Of rows [first, first + rows), both multiples of 8: core by core, eight rows each.
[[nodiscard]] std::vector<CoreRow> core_rows(const MatrixOperand& operand, unsigned first, unsigned rows);

// Ends the launch where a tile cannot start there, or its distances cannot be told.
void check_operand_start(const void* s_tile, TileSwizzle swizzle, std::uint32_t leading_bytes,
                         std::uint32_t stride_bytes, std::source_location where);
// Ends the launch where a part of the operand lies outside of the block's shared memory.
void check_operand(const char* name, const MatrixOperand& operand, unsigned rows, std::source_location where);

}  // namespace rooftile::simt::detail
