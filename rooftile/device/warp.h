// Warp-wide reduction through registers.
#pragma once

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullMask = 0xffffffffu;

// Combines `value` over the 32 lanes of a full warp; every lane returns the result. `combine` must be associative
// and commutative; the order is a fixed butterfly, so the result is the same on every run.
// 5 shuffles for types up to 4 bytes, 10 for 8 bytes.
template <class T, class Combine>
__device__ __forceinline__ T warp_reduce(T value, Combine combine) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    value = combine(value, __shfl_xor_sync(kFullMask, value, offset));
  }
  return value;
}

}  // namespace rooftile::ROOFTILE_TARGET
