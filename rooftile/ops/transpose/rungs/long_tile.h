// What few_rows and few_columns share: a tile that is long one way and as short as the matrix the other way.
#pragma once

#include "rooftile/ops/transpose/rungs/contiguous_piece.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

// 3 x 10^7 of f32 on an H200: 0.95 of the bound by 512 columns and 128 threads, 0.92 by 1024 and 256, 0.64 by
// 2048.
inline constexpr int kLongBlock = 128;
inline constexpr int kLongTile = 512;  // items
inline constexpr int kLongPerThread = kLongTile / kLongBlock;
inline constexpr int kLongShort = transpose_plan::kMostShortBytes;  // items, where one has a byte
static_assert(kLongTile % kVecBytes == 0, "pieces of a 16-byte aligned matrix stay aligned");

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
