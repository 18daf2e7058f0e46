// A tile for rows that start anywhere, of which global memory sees aligned accesses alone: its shape, and how it
// lies in shared memory between shifted_load.h and shifted_store.h.
//
// A word holds items that follow each other in a row of out: four rows of in where items have a byte, two where
// they have two, one otherwise; such rows are a group. Shared memory is [group][column] words, with a pad behind
// every 16 bytes of out (kChunkWords groups): lanes that put together neighbouring chunks of a row of out read
// words so many groups apart.
#pragma once

#include <cstdint>

#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

// kLoadBytes: of the vectors that cover a row of in, for items of 1 and 2 bytes. kAtOnce: rows (of such items:
// groups) that a thread has on the way. kAlign: where pieces of out start, in bytes.
template <int kItemBytes_, int kRows_, int kColumns_, int kThreads_, int kBlocksPerSm_, int kLoadBytes_,
          int kAtOnce_, int kAlign_>
struct ShiftedTile {
  static constexpr int kItemBytes = kItemBytes_;
  static constexpr int kRows = kRows_;  // of in, that a block reads
  static constexpr int kColumns = kColumns_;
  static constexpr int kThreads = kThreads_;
  static constexpr int kBlocksPerSm = kBlocksPerSm_;
  static constexpr int kLoadBytes = kLoadBytes_;
  static constexpr int kAtOnce = kAtOnce_;
  static constexpr int kAlign = kAlign_;
  // Rows from a tile to the next: those by which a piece of out may start later are read by both.
  static constexpr int kAdvance = kRows - kAlign / kItemBytes;

  using Item = Access<kItemBytes>;
  using Word = Access<(kItemBytes < 4 ? 4 : kItemBytes)>;
  static constexpr int kWordBytes = static_cast<int>(sizeof(Word));
  static constexpr int kGroup = kWordBytes / kItemBytes;  // rows
  static constexpr int kGroups = kRows / kGroup;
  static constexpr int kChunkWords = kVecBytes / kWordBytes;
  static constexpr int kPad = kGroup > 1 ? 4 : 1;  // words: rows stay aligned where vectors are stored
  static constexpr int kSharedBytes = (kGroups * kColumns + kGroups / kChunkWords * kPad) * kWordBytes;
  static_assert(kColumns % 32 == 0, "the pad alone decides on the bank of a column");
  static_assert(kAlign % kVecBytes == 0, "whole chunks");

  __device__ static __forceinline__ int group_start(int group) {
    return group * kColumns + group / kChunkWords * kPad;
  }

  static constexpr bool kWholeColumns = false;  // as tall as the matrix: see column_tile.h
  template <int kGroupsOfBlock>
  __device__ static __forceinline__ constexpr int units(int /*rows*/, int /*first_group*/) {
    return kGroups / kGroupsOfBlock;
  }

  // The 16-byte vectors that a thread stores into a row lie kStores vectors from the next thread's: an exclusive
  // or sends eight lanes to all banks.
  static constexpr int kStores = kLoadBytes / kItemBytes / 4;
  __device__ static __forceinline__ int place_of(int column) {
    if constexpr (kGroup > 1 && kStores > 1) return column ^ (column / 32 % kStores * 4);
    return column;
  }
};

// Where a tile lies in its matrix.
struct ShiftedPlace {
  const char* in;  // the tile's first item
  std::int64_t in_row;
  char* out;  // where that goes
  std::int64_t out_row;
  int rows;  // of in, inside the matrix
  int columns;
  bool first;     // of the tiles below each other
  int rows_left;  // of in, from the tile's first to the matrix's end, or more than a tile has
  // Bytes of the matrix in memory in front of the tile's lowest row, and from the highest one's start to the
  // matrix's end, or more than a tile asks for. Rows may lie backwards.
  int room_before;
  int room_behind;

  // Whether `bytes` at byte `at` of row `row` lie in the matrix, where they are less than two vectors away from
  // the tile. Rows lie two vectors apart at least, so that only the lowest and the highest can leave it.
  __device__ __forceinline__ bool holds(int row, int at, int bytes) const {
    const bool lowest = row == (in_row < 0 ? rows - 1 : 0);
    const bool highest = row == (in_row < 0 ? 0 : rows - 1);
    return !(lowest && at < -room_before) && !(highest && at + bytes > room_behind);
  }
};

__device__ __forceinline__ int clamp_to_int(std::int64_t value) {
  constexpr std::int64_t kMost = 1 << 20;  // more than a tile has rows, or bytes in a row
  return static_cast<int>(value < kMost ? value : kMost);
}

template <class T>
__device__ __forceinline__ ShiftedPlace shifted_place(const Matrices& a, const TileGrid& grid) {
  const TilePlace tile = tile_place(grid);
  const MatrixPair pair = matrix_pair(a.in, a.out, a.batch, tile.matrix);
  const std::int64_t i = static_cast<std::int64_t>(tile.m_tile) * T::kAdvance;
  const std::int64_t j = static_cast<std::int64_t>(tile.n_tile) * T::kColumns;
  const int rows = static_cast<int>(a.m - i < T::kRows ? a.m - i : T::kRows);
  const std::int64_t rows_behind = a.m - i - rows;
  const std::int64_t before = a.in_row < 0 ? rows_behind * -a.in_row : i * a.in_row;
  const std::int64_t behind = a.in_row < 0 ? i * -a.in_row : rows_behind * a.in_row;
  return {pair.in + i * a.in_row + j * T::kItemBytes,
          a.in_row,
          pair.out + j * a.out_row + i * T::kItemBytes,
          a.out_row,
          rows,
          static_cast<int>(a.n - j < T::kColumns ? a.n - j : T::kColumns),
          tile.m_tile == 0,
          clamp_to_int(a.m - i),
          clamp_to_int(before + j * T::kItemBytes),
          clamp_to_int(behind + (a.n - j) * T::kItemBytes)};
}

// The address modulo 2^32: all that its alignment needs.
__device__ __forceinline__ unsigned low_bits(const char* pointer) {
  return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(pointer));
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
