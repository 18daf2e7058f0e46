// Warp-wide exchange through registers: shuffles of any type, reduce, scan, broadcast.
//
// The first `lanes` lanes of a warp call together, all with the same `lanes`; the others must not: that is
// how the last warp of a block that is no multiple of 32 takes part. All 32 is the default and the cheapest.
// The order of every combination is fixed: the same input gives the same bits on every run.
#pragma once

#include <cstring>
#include <type_traits>

#include "rooftile/device/caller.h"
#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullMask = 0xffffffffu;

// The mask of the first `lanes` lanes, 1 to 32.
__device__ __forceinline__ constexpr unsigned first_lanes(int lanes) {
  return kFullMask >> (kWarpSize - lanes);
}

// Of a one-dimensional block.
__device__ __forceinline__ int lane_index() { return static_cast<int>(threadIdx.x) % kWarpSize; }
__device__ __forceinline__ int warp_index() { return static_cast<int>(threadIdx.x) / kWarpSize; }

// Moves a value of any trivially copyable type: at once where
// the hardware has the shuffle, else by words of 4 bytes.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffle_by_words(T value, Shuffle shuffle) {
  static_assert(std::is_trivially_copyable_v<T>, "shuffled as bytes");
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    return shuffle(value);
  } else {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (unsigned& word : words) word = shuffle(word);
    memcpy(static_cast<void*>(&value), words, sizeof(T));
    return value;
  }
}

// The value of lane `source`. Source: PTX ISA, shfl.sync.idx.
template <class T>
__device__ __forceinline__ T shuffle(T value, int source, int lanes = kWarpSize ROOFTILE_AND_CALLER) {
  return shuffle_by_words(value, [=](auto word) {
    return __shfl_sync(first_lanes(lanes), word, source, kWarpSize ROOFTILE_AND_HERE);
  });
}

// The value of lane (lane ^ mask). Source: PTX ISA, shfl.sync.bfly.
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int mask, int lanes = kWarpSize ROOFTILE_AND_CALLER) {
  return shuffle_by_words(value, [=](auto word) {
    return __shfl_xor_sync(first_lanes(lanes), word, mask, kWarpSize ROOFTILE_AND_HERE);
  });
}

// The value of lane (lane - distance); its own in the first `distance` lanes. Source: PTX ISA, shfl.sync.up.
template <class T>
__device__ __forceinline__ T shuffle_up(T value, int distance, int lanes = kWarpSize ROOFTILE_AND_CALLER) {
  return shuffle_by_words(value, [=](auto word) {
    return __shfl_up_sync(first_lanes(lanes), word, static_cast<unsigned>(distance),
                          kWarpSize ROOFTILE_AND_HERE);
  });
}

// The value of lane (lane + distance); unspecified where that is
// no lane of the first `lanes`. Source: PTX ISA, shfl.sync.down.
template <class T>
__device__ __forceinline__ T shuffle_down(T value, int distance, int lanes = kWarpSize ROOFTILE_AND_CALLER) {
  return shuffle_by_words(value, [=](auto word) {
    return __shfl_down_sync(first_lanes(lanes), word, static_cast<unsigned>(distance),
                            kWarpSize ROOFTILE_AND_HERE);
  });
}

// Every lane returns the value of lane `source`.
template <class T>
__device__ __forceinline__ T warp_broadcast(T value, int source = 0,
                                            int lanes = kWarpSize ROOFTILE_AND_CALLER) {
  return shuffle(value, source, lanes ROOFTILE_AND_HERE);
}

// Combines `value` over the 32 lanes of a full warp; every lane returns the
// result. `combine` must be associative and commutative; the order is a
// butterfly. 5 shuffles for types up to 4 bytes, 5 per 4 bytes for larger ones.
template <class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine ROOFTILE_AND_CALLER) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
    value = combine(value, shuffle_xor(value, offset, kWarpSize ROOFTILE_AND_HERE));
  return value;
}

// The same over the first `lanes` lanes: neighbours first, so that `combine` need not be commutative, and a
// broadcast. A lane without a right neighbour reads the last lane, and drops what it reads.
template <class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine, int lanes ROOFTILE_AND_CALLER) {
  for (int offset = 1; offset < lanes; offset *= 2) {
    const int neighbour = lane_index() + offset;
    const T right = shuffle(value, neighbour < lanes ? neighbour : lanes - 1, lanes ROOFTILE_AND_HERE);
    if (neighbour < lanes) value = combine(value, right);
  }
  return warp_broadcast(value, 0, lanes ROOFTILE_AND_HERE);
}

// Lane i returns the combination of lanes 0 ... i, in that order: `combine` must
// be associative. 5 shuffles per word. Source: Kogge and Stone, IEEE Trans.
// Computers C-22 (1973); Harris, Sengupta and Owens, GPU Gems 3, chapter 39.
template <class T, class Combine>
__device__ __forceinline__ T warp_inclusive_scan(T value, Combine combine,
                                                 int lanes = kWarpSize ROOFTILE_AND_CALLER) {
#pragma unroll
  for (int offset = 1; offset < kWarpSize; offset *= 2) {
    const T left = shuffle_up(value, offset, lanes ROOFTILE_AND_HERE);
    if (lane_index() >= offset) value = combine(left, value);
  }
  return value;
}

// Lane i returns the combination of lanes 0 ... i - 1, lane 0 the identity.
template <class T, class Combine>
__device__ __forceinline__ T warp_exclusive_scan(T value, std::type_identity_t<T> identity, Combine combine,
                                                 int lanes = kWarpSize ROOFTILE_AND_CALLER) {
  const T inclusive = warp_inclusive_scan(value, combine, lanes ROOFTILE_AND_HERE);
  const T before = shuffle_up(inclusive, 1, lanes ROOFTILE_AND_HERE);
  return lane_index() == 0 ? identity : before;
}

}  // namespace rooftile::ROOFTILE_TARGET
