// Swizzles: where an element of a shared-memory tile lies, so that both rows and columns are reached without
// bank conflicts and without padding. tests/device/blocks/swizzle_test.cpp counts the banks.
#pragma once

#include <cstdint>

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

// TMA's swizzle of a tile whose rows are kSpan bytes (32, 64, 128): the 16-byte chunk's place in the row,
// XORed with bits of the row's number. `offset` is in bytes from an address that is a multiple of 8 * kSpan:
// the hardware looks at address bits. The function is its own inverse.
//
// clang-format off
//   kSpan   chunk bits   ^=   bits      kSpan 128: chunk c of row r lies at c ^ r % 8
//    128       4-6            7-9         row 0 | 0 1 2 3 4 5 6 7
//     64       4-5            7-8         row 1 | 1 0 3 2 5 4 7 6
//     32       4              7           row 2 | 2 3 0 1 6 7 4 5
// clang-format on
//
// Source: PTX ISA, tensor data movement, swizzling modes.
template <int kSpan>
__host__ __device__ __forceinline__ constexpr std::uint32_t swizzle_bytes(std::uint32_t offset) {
  static_assert(kSpan == 32 || kSpan == 64 || kSpan == 128, "the spans that TMA knows");
  constexpr std::uint32_t kChunks = kSpan / 16;
  return offset ^ ((offset >> 7 & (kChunks - 1)) << 4);
}

// The column at which a tile of kColumns columns keeps element (row, column), moved in groups of kVector
// elements: group g of row r lies at g ^ r. A warp that writes rows and reads columns of a 32 x 32 tile of
// 4-byte elements touches every bank once, both times. Its own inverse.
//
//   kColumns 8, kVector 2:   row 0 | 0 1 | 2 3 | 4 5 | 6 7
//                            row 1 | 2 3 | 0 1 | 6 7 | 4 5
//
// Source: Ruetsch and Micikevicius, Optimizing Matrix Transpose in CUDA (2009), for the conflict; the XOR in
// place of their padding keeps rows aligned to a vector.
template <int kColumns, int kVector = 1>
__host__ __device__ __forceinline__ constexpr int swizzled_column(int row, int column) {
  constexpr int kGroups = kColumns / kVector;
  static_assert((kColumns & (kColumns - 1)) == 0 && (kVector & (kVector - 1)) == 0 && kGroups >= 1,
                "XOR permutes a power of two");
  return column ^ (row % kGroups * kVector);
}

}  // namespace rooftile::ROOFTILE_TARGET
