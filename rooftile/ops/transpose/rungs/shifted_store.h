// A shifted tile goes out in chunks of 16 bytes at multiples of 16, each put together of the words that it
// touches: four, or five where items are smaller than a word.
//
// A tile's piece of a row of out starts at the first boundary of kAlign bytes behind the tile's first row of in,
// in each row of out elsewhere, and ends where the next tile's starts: every chunk has one writer.
//
//   rows of in, down   0 1 2 3 4 5 6 7 8 9 ...          a row of out      | 0 1 2 3 | 4 5 6 7 | 8 ...
//   tiles of 4 rows    first   | second  | ...          the next          0 | 1 2 3 4 | 5 6 7 8 | ...
#pragma once

#include <cstdint>

#include "rooftile/ops/transpose/rungs/shifted_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

// Bytes begin to end of a row of out, counted from where the tile's first row of in goes.
struct ShiftedPiece {
  int begin;
  int end;
  int back;  // from there to the boundary of kAlign in front of it
};

template <class T>
__device__ __forceinline__ ShiftedPiece shifted_piece(const ShiftedPlace& place, const char* g_row) {
  const int back = static_cast<int>(low_bits(g_row) % T::kAlign);
  const int shift = back == 0 ? 0 : T::kAlign - back;
  const int full = shift + T::kAdvance * T::kItemBytes;
  const int left = place.rows_left * T::kItemBytes;
  return {place.first ? 0 : shift, left < full ? left : full, back};
}

template <class T>
__device__ __forceinline__ void store_chunks(const ShiftedPlace& place, const typename T::Word* s_words) {
  constexpr int kChunks = T::kRows * T::kItemBytes / kVecBytes;  // of a row of out
  // Eight chunks of four columns, or 32 of one: no two lanes in a bank.
  constexpr int kLanes = T::kGroup > 1 ? 8 : 32;
  constexpr int kParts = kChunks / kLanes;
  constexpr int kColumnsOfBlock = T::kThreads / kLanes;
  constexpr int kChunkStep = T::kChunkWords * T::kColumns + T::kPad;  // words of shared memory
  static_assert(kChunks % kLanes == 0 && T::kColumns % kColumnsOfBlock == 0,
                "every thread stores as many chunks");
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int first = static_cast<int>(threadIdx.x) / kLanes;
  char* g_row = place.out + first * place.out_row;
  const std::int64_t step = kColumnsOfBlock * place.out_row;
#pragma unroll 2
  for (int column = first; column < place.columns; column += kColumnsOfBlock) {
    const ShiftedPiece piece = shifted_piece<T>(place, g_row);
    // Chunk 0 starts `back` before the tile's first row; the chunk kAlign behind it `ahead` behind that row.
    const int ahead = T::kAlign - piece.back;
    const int word = ahead / T::kWordBytes % T::kChunkWords;
    const typename T::Word* s_chunk = s_words + T::place_of(column) + word * T::kColumns +
                                      (lane + (ahead / kVecBytes - T::kAlign / kVecBytes)) * kChunkStep;
    const int from = lane * kVecBytes - piece.back;
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
      const int at = from + p * kLanes * kVecBytes;
      if (at < piece.begin || at + kVecBytes > piece.end) continue;
      const typename T::Word* s_part = s_chunk + p * kLanes * kChunkStep;
      // The words after the chunk's first may lie behind a pad.
      const auto word_at = [&](int i) {
        return s_part[i * T::kColumns + (word + i) / T::kChunkWords * T::kPad];
      };
      uint4 r_chunk;
      if constexpr (T::kItemBytes == 8) {
        const uint2 low = word_at(0);
        const uint2 high = word_at(1);
        r_chunk = make_uint4(low.x, low.y, high.x, high.y);
      } else if constexpr (T::kItemBytes == 4) {
        r_chunk = make_uint4(word_at(0), word_at(1), word_at(2), word_at(3));
      } else {
        std::uint32_t w[5];
#pragma unroll
        for (int i = 0; i < 5; ++i) w[i] = word_at(i);
        const auto bits = static_cast<unsigned>(ahead % 4 * 8);
        r_chunk = make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                             __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits));
      }
      store_bytes<kVecBytes>(g_row + at, r_chunk);
    }
    g_row += step;
  }
}

template <class T>
__device__ __forceinline__ void store_item(const typename T::Word* s_words, char* g_row, int at, int column) {
  const int row = at / T::kItemBytes;
  const typename T::Word* s_word = s_words + T::group_start(row / T::kGroup) + T::place_of(column);
  store_bytes<T::kItemBytes>(g_row + at, reinterpret_cast<const typename T::Item*>(s_word)[row % T::kGroup]);
}

// What a row of out has in front of its first whole chunk, and behind its last.
template <class T>
__device__ __forceinline__ void store_ends(const ShiftedPlace& place, const typename T::Word* s_words) {
  constexpr int kLanes = kVecBytes / T::kItemBytes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int first = static_cast<int>(threadIdx.x) / kLanes;
#pragma unroll 2
  for (int column = first; column < place.columns; column += T::kThreads / kLanes) {
    char* const g_row = place.out + column * place.out_row;
    const ShiftedPiece piece = shifted_piece<T>(place, g_row);
    const int over = piece.back % kVecBytes;
    const int head_end = place.first && over > 0 ? kVecBytes - over : piece.begin;
    const int head = piece.begin + lane * T::kItemBytes;
    if (head < head_end && head < piece.end) store_item<T>(s_words, g_row, head, column);
    const int last_chunk = piece.end - (piece.end + over) % kVecBytes;
    const int tail = (last_chunk > head_end ? last_chunk : head_end) + lane * T::kItemBytes;
    if (tail < piece.end) store_item<T>(s_words, g_row, tail, column);
  }
}

// By all threads of the block, behind a barrier after load_shifted().
template <class T>
__device__ __forceinline__ void store_shifted(const ShiftedPlace& place, const typename T::Word* s_words) {
  store_chunks<T>(place, s_words);
  if (place.first || place.rows_left < T::kRows) store_ends<T>(place, s_words);
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
