// Warp-wide reduction through registers.
#pragma once

#include <cstring>
#include <type_traits>

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullMask = 0xffffffffu;

// The value of lane (lane ^ mask), for any trivially copyable type: by 4-byte words where the hardware has no
// shuffle.
template <class T>
__device__ __forceinline__ T shuffle_xor(T value, int mask) {
  if constexpr (std::is_arithmetic_v<T>) {
    return __shfl_xor_sync(kFullMask, value, mask);
  } else {
    static_assert(sizeof(T) % 4 == 0 && std::is_trivially_copyable_v<T>, "shuffled by words");
    unsigned words[sizeof(T) / 4];
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (unsigned& word : words) word = __shfl_xor_sync(kFullMask, word, mask);
    memcpy(&value, words, sizeof(T));
    return value;
  }
}

// Combines `value` over the 32 lanes of a full warp; every lane returns the result. `combine` must be
// associative and commutative; the order is a fixed butterfly, so the result is the same on every run. 5
// shuffles for types up to 4 bytes, 5 per 4 bytes for larger ones.
template <class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2)
    value = combine(value, shuffle_xor(value, offset));
  return value;
}

}  // namespace rooftile::ROOFTILE_TARGET
