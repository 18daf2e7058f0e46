// A shifted tile comes in. Items of 4 and 8 bytes one by one; of items of 1 and 2 bytes the aligned vectors that
// cover a row, two of which make one vector of the row by a funnel shift, and 4 x 4 bytes or 2 x 2 halves turn in
// registers:
//
//   memory    | . a0 a1 a2 | a3 a4 a5 a6 |     two vectors of 4 bytes, the row starts a byte behind the first
//   the row     a0 a1 a2 a3                    the funnel shift's result
#pragma once

#include <cstdint>
#include <cstring>

#include "rooftile/ops/transpose/rungs/shifted_tile.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

// Two aligned vectors of kBytes, one behind the other.
template <int kBytes>
struct VectorPair {
  static constexpr int kHalf = kBytes / 4;
  std::uint32_t w[2 * kHalf];

  __device__ __forceinline__ void set(int half, const Access<kBytes>& raw) {
    memcpy(w + half * kHalf, &raw, kBytes);
  }
  // Moves the kBytes from `shift` on, shift < kBytes, into the first half.
  __device__ __forceinline__ void realign(unsigned shift) {
#pragma unroll
    for (int step = kHalf / 2; step >= 1; step /= 2) {
      const bool moved = (shift & static_cast<unsigned>(step * 4)) != 0;
#pragma unroll
      for (int i = 0; i < kHalf + step; ++i) w[i] = moved ? w[i + step] : w[i];
    }
#pragma unroll
    for (int i = 0; i < kHalf; ++i) w[i] = __funnelshift_r(w[i], w[i + 1], shift % 4 * 8);
  }
};

// Word w of the rows of a group is a square of items, whose columns become words.
template <int kItemBytes, int kBytes>
__device__ __forceinline__ void turn_square(const VectorPair<kBytes>* r_rows, int w, std::uint32_t* r_out) {
  const std::uint32_t a = r_rows[0].w[w];
  const std::uint32_t b = r_rows[1].w[w];
  if constexpr (kItemBytes == 2) {
    r_out[0] = __byte_perm(a, b, 0x5410);
    r_out[1] = __byte_perm(a, b, 0x7632);
  } else {
    const std::uint32_t c = r_rows[2].w[w];
    const std::uint32_t d = r_rows[3].w[w];
    const std::uint32_t ab_low = __byte_perm(a, b, 0x5140);   // a0 b0 a1 b1
    const std::uint32_t ab_high = __byte_perm(a, b, 0x7362);  // a2 b2 a3 b3
    const std::uint32_t cd_low = __byte_perm(c, d, 0x5140);
    const std::uint32_t cd_high = __byte_perm(c, d, 0x7362);
    r_out[0] = __byte_perm(ab_low, cd_low, 0x5410);
    r_out[1] = __byte_perm(ab_low, cd_low, 0x7632);
    r_out[2] = __byte_perm(ab_high, cd_high, 0x5410);
    r_out[3] = __byte_perm(ab_high, cd_high, 0x7632);
  }
}

// kWhole: every vector that the tile's rows touch lies in the matrix. Otherwise those that do not are zeros: see
// load_corners.
template <class T, bool kWhole>
__device__ __forceinline__ void load_vectors(const ShiftedPlace& place, typename T::Word* s_words) {
  constexpr int kBytes = T::kLoadBytes;
  constexpr int kVectors = T::kColumns * T::kItemBytes / kBytes;  // of a row
  constexpr int kGroupsOfBlock = T::kThreads / kVectors;
  constexpr int kItems = kBytes / T::kItemBytes;
  static_assert(T::kThreads % kVectors == 0 &&
                    (T::kWholeColumns ? T::kAtOnce == 1 : T::kGroups % (kGroupsOfBlock * T::kAtOnce) == 0),
                "every thread loads as many vectors, or one at a time");
  const int vector = static_cast<int>(threadIdx.x) % kVectors;
  const int group = static_cast<int>(threadIdx.x) / kVectors;
  const int units = T::template units<kGroupsOfBlock>(place.rows, group);  // groups of the thread
  const bool needed = kWhole || vector * kItems < place.columns;
  const char* g_vector = place.in + group * T::kGroup * place.in_row + vector * kBytes;
  const std::int64_t step = (kGroupsOfBlock - 1) * T::kGroup * place.in_row;
#pragma unroll 1
  for (int first = 0; first < units; first += T::kAtOnce) {
    VectorPair<kBytes> r_rows[T::kAtOnce][T::kGroup];
    unsigned r_shifts[T::kAtOnce][T::kGroup];
#pragma unroll
    for (int k = 0; k < T::kAtOnce; ++k) {
#pragma unroll
      for (int r = 0; r < T::kGroup; ++r) {
        const unsigned shift = low_bits(g_vector) % kBytes;
        r_shifts[k][r] = shift;
        const char* g_low = g_vector - shift;
        const int row = (group + (first + k) * kGroupsOfBlock) * T::kGroup + r;
        const int at = vector * kBytes - static_cast<int>(shift);  // of g_low in the tile's row
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const char* g_half = g_low + half * kBytes;
          const bool inside =
              kWhole || (needed && row < place.rows && place.holds(row, at + half * kBytes, kBytes));
          r_rows[k][r].set(half, inside ? load_bytes<kBytes>(g_half) : Access<kBytes>{});
        }
        g_vector += place.in_row;
      }
      g_vector += step;
    }
#pragma unroll
    for (int k = 0; k < T::kAtOnce; ++k) {
#pragma unroll
      for (int r = 0; r < T::kGroup; ++r) r_rows[k][r].realign(r_shifts[k][r]);
      std::uint32_t r_out[kItems];
#pragma unroll
      for (int w = 0; w < kBytes / 4; ++w) {
        turn_square<T::kItemBytes>(r_rows[k], w, r_out + w * T::kGroup);
      }
      std::uint32_t* s_group = s_words + T::group_start(group + (first + k) * kGroupsOfBlock);
#pragma unroll
      for (int v = 0; v < T::kStores; ++v) {
        *reinterpret_cast<uint4*>(s_group + T::place_of((vector * T::kStores + v) * 4)) =
            make_uint4(r_out[4 * v], r_out[4 * v + 1], r_out[4 * v + 2], r_out[4 * v + 3]);
      }
    }
  }
}

// The vectors that hang over the matrix's first byte or its last hold items of the tile's first row or its last:
// the first kLoadBytes of such a row, or the last. They come one by one, behind a barrier after load_vectors().
template <class T>
__device__ __forceinline__ void load_corners(const ShiftedPlace& place, typename T::Word* s_words) {
  constexpr int kItems = T::kLoadBytes / T::kItemBytes;
  const int row = static_cast<int>(threadIdx.x) / (2 * kItems) * (place.rows - 1);
  const int item = static_cast<int>(threadIdx.x) % (2 * kItems);
  const int column = item < kItems ? item : place.columns - 1 - (item - kItems);
  if (static_cast<int>(threadIdx.x) >= 4 * kItems ||
      (place.rows == 1 && static_cast<int>(threadIdx.x) >= 2 * kItems))
    return;
  if (column >= place.columns || (item >= kItems && column < kItems)) return;
  typename T::Word* s_word = s_words + T::group_start(row / T::kGroup) + T::place_of(column);
  reinterpret_cast<typename T::Item*>(s_word)[row % T::kGroup] =
      load_bytes<T::kItemBytes>(place.in + row * place.in_row + column * T::kItemBytes);
}

template <class T, bool kWhole>
__device__ __forceinline__ void load_items(const ShiftedPlace& place, typename T::Word* s_words) {
  constexpr int kLanes = 128 / T::kItemBytes;
  constexpr int kPieces = T::kColumns / kLanes;  // of a row, for a thread
  constexpr int kRowsOfBlock = T::kThreads / kLanes;
  static_assert(T::kColumns % kLanes == 0 && T::kRows % (kRowsOfBlock * T::kAtOnce) == 0,
                "every thread loads as many items");
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int row = static_cast<int>(threadIdx.x) / kLanes;
  const char* g_item = place.in + row * place.in_row + lane * T::kItemBytes;
  const std::int64_t step = kRowsOfBlock * place.in_row;
#pragma unroll 1
  for (int first = 0; first < T::kRows / kRowsOfBlock; first += T::kAtOnce) {
    typename T::Word r_items[T::kAtOnce][kPieces];
#pragma unroll
    for (int k = 0; k < T::kAtOnce; ++k) {
#pragma unroll
      for (int p = 0; p < kPieces; ++p) {
        const bool inside =
            kWhole || (row + (first + k) * kRowsOfBlock < place.rows && lane + p * kLanes < place.columns);
        r_items[k][p] = inside ? load_bytes<T::kItemBytes>(g_item + p * 128) : typename T::Word{};
      }
      g_item += step;
    }
#pragma unroll
    for (int k = 0; k < T::kAtOnce; ++k) {
      typename T::Word* s_item = s_words + T::group_start(row + (first + k) * kRowsOfBlock) + lane;
#pragma unroll
      for (int p = 0; p < kPieces; ++p) s_item[p * kLanes] = r_items[k][p];
    }
  }
}

// By all threads of the block.
template <class T>
__device__ __forceinline__ void load_shifted(const ShiftedPlace& place, typename T::Word* s_words) {
  const bool whole = place.rows == T::kRows && place.columns == T::kColumns;
  if constexpr (T::kGroup > 1) {
    constexpr int kBytes = T::kLoadBytes;
    const bool corner =
        place.room_before < kBytes || place.room_behind < place.columns * T::kItemBytes + kBytes;
    if constexpr (!T::kWholeColumns) {
      if (whole && !corner) return load_vectors<T, true>(place, s_words);
    }
    load_vectors<T, false>(place, s_words);
    if (corner) {
      __syncthreads();  // the zeros are stored
      load_corners<T>(place, s_words);
    }
  } else if (whole) {
    load_items<T, true>(place, s_words);
  } else {
    load_items<T, false>(place, s_words);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
