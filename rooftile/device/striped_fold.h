// The total of a warp's vectors that lie side by side, lane by lane.
#pragma once

#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// Combines values[0] of lanes 0 ... 31, then values[1] of them, and so on, in that order; every lane returns it. kCount is 1, 2
// or 4. Neighbouring lanes first share out the values between them: 5, 7 or 8 shuffles where one value after the other would
// take 5, 10 or 20.
template <int kCount, class T, class Combine>
__device__ __forceinline__ T fold_striped(T (&values)[kCount], Combine combine ROOFTILE_AND_CALLER) {
  static_assert(kCount == 1 || kCount == 2 || kCount == 4, "powers of two up to four");
  // With the lane at this distance: the lower lane's stand in front. By value: a choice between two array elements would be one
  // between two addresses, and the array local memory.
  const auto meet = [&](T mine, T given, int distance) {
    const T other = shuffle_xor(given, distance, kWarpSize ROOFTILE_AND_HERE);
    return (lane_index() & distance) != 0 ? combine(other, mine) : combine(mine, other);
  };
#pragma unroll
  for (int count = kCount; count > 1; count /= 2) {
    const int distance = kCount / count;
    const bool is_upper = (lane_index() & distance) != 0;  // keeps the upper half of the values
#pragma unroll
    for (int v = 0; v < count / 2; ++v) {
      const T low = values[v];
      const T high = values[v + count / 2];
      const T kept = is_upper ? high : low;
      const T given = is_upper ? low : high;
      values[v] = meet(kept, given, distance);
    }
  }
#pragma unroll
  for (int distance = kCount; distance < kWarpSize; distance *= 2)
    values[0] = meet(values[0], values[0], distance);
    // Each lane has one of the values of all lanes: the lowest bit of its number says which half it is of.
#pragma unroll
  for (int distance = kCount / 2; distance > 0; distance /= 2)
    values[0] = meet(values[0], values[0], distance);
  return values[0];
}

}  // namespace rooftile::ROOFTILE_TARGET
