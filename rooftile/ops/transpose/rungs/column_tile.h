// A shifted tile of bytes that is as tall as its matrix. Its columns are rows of out without gaps: what it writes is
// one contiguous piece, in chunks of 16 bytes; a chunk in which a row of out ends and the next begins goes out byte
// by byte, by neighbouring lanes.
//
//   out, in chunks   | a a a a | a a b b | b b b b | b c c c | ...
#pragma once

#include <cstdint>

#include "rooftile/ops/transpose/rungs/shifted_load.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

// Of bytes. kRows is the most: shared memory holds as many rows as the matrix has.
template <int kColumns_, int kThreads_, int kBlocksPerSm_>
struct ColumnTile : ShiftedTile<1, transpose_plan::kMostColumnBytes, kColumns_, kThreads_, kBlocksPerSm_,
                                kVecBytes, 1, kVecBytes> {
  using Layout = ShiftedTile<1, transpose_plan::kMostColumnBytes, kColumns_, kThreads_, kBlocksPerSm_,
                             kVecBytes, 1, kVecBytes>;
  static constexpr bool kWholeColumns = true;

  static constexpr int groups(int rows) { return (rows + Layout::kGroup - 1) / Layout::kGroup; }
  static constexpr int shared_bytes(int rows) {
    return (groups(rows) * kColumns_ + groups(rows) / Layout::kChunkWords * Layout::kPad) *
           Layout::kWordBytes;
  }
  template <int kGroupsOfBlock>
  __device__ static __forceinline__ int units(int rows, int first_group) {
    return (groups(rows) - first_group + kGroupsOfBlock - 1) / kGroupsOfBlock;
  }
};

// Whole chunks of one row of out. Eight lanes write a line of 128 bytes, four rows a warp.
template <class T>
__device__ __forceinline__ void store_columns(const ShiftedPlace& place, const std::uint32_t* s_words) {
  constexpr int kLanes = 8;
  constexpr int kLine = kLanes * kVecBytes;
  constexpr int kChunkStep = T::kChunkWords * T::kColumns + T::kPad;  // words of shared memory
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int column = static_cast<int>(threadIdx.x) / kLanes; column < place.columns;
       column += T::kThreads / kLanes) {
    char* const g_row = place.out + column * place.out_row;
    const int ahead = lane * kVecBytes + kLine - static_cast<int>(low_bits(g_row) % kLine);
    const int word = ahead / T::kWordBytes % T::kChunkWords;
    const auto bits = static_cast<unsigned>(ahead % T::kWordBytes * 8);
    const int words = bits == 0 ? 4 : 5;  // that a chunk touches
    int places[5];
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      const int at = word + (i < words ? i : 0);
      places[i] = at * T::kColumns + at / T::kChunkWords * T::kPad + T::place_of(column);
    }
#pragma unroll 2
    for (int at = ahead - kLine; at + kVecBytes <= place.rows; at += kLine) {
      if (at < 0) continue;
      const std::uint32_t* s_chunk = s_words + at / kVecBytes * kChunkStep;
      std::uint32_t w[5];
#pragma unroll
      for (int i = 0; i < 5; ++i) w[i] = s_chunk[places[i]];
      store_bytes<kVecBytes>(
          g_row + at, make_uint4(__funnelshift_r(w[0], w[1], bits), __funnelshift_r(w[1], w[2], bits),
                                 __funnelshift_r(w[2], w[3], bits), __funnelshift_r(w[3], w[4], bits)));
    }
  }
}

// The chunks in which a row of out ends, with what the next row begins with: a lane a byte. In the tile's first chunk
// and its last, its own bytes alone.
template <class T>
__device__ __forceinline__ void store_seams(const ShiftedPlace& place, const std::uint32_t* s_words) {
  constexpr int kLanes = kVecBytes;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  for (int seam = static_cast<int>(threadIdx.x) / kLanes; seam <= place.columns;
       seam += T::kThreads / kLanes) {
    char* const g_seam = place.out + seam * place.out_row;
    const int over =
        static_cast<int>(low_bits(g_seam) % kVecBytes);  // bytes of the chunk in front of the seam
    if (over == 0) continue;
    const int at = lane - over;
    const int column = at < 0 ? seam - 1 : seam;
    if (column < 0 || column >= place.columns) continue;
    const int row = at < 0 ? place.rows + at : at;
    const std::uint32_t* s_word = s_words + T::group_start(row / T::kGroup) + T::place_of(column);
    store_bytes<1>(g_seam + at, reinterpret_cast<const std::uint8_t*>(s_word)[row % T::kGroup]);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
