// Block-wide reduction: one value per warp through shared memory.
#pragma once

#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// Combines `value` over a block of kThreads threads; thread 0 returns the result, the others an unspecified
// value. All threads of a one-dimensional block must call it. `s_warp_values` is the caller's shared memory,
// one slot per warp; it may be written again after the next __syncthreads(). The order is fixed.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ T block_reduce(T value, T identity, T (&s_warp_values)[kThreads / kWarpSize],
                                          Combine combine) {
  static_assert(kThreads % kWarpSize == 0, "whole warps: the shuffles name all 32 lanes");
  static_assert(kThreads <= 1024, "the second stage is one warp");
  constexpr int kWarps = kThreads / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;

  value = warp_reduce(value, combine);
  if constexpr (kWarps > 1) {
    if (lane == 0) s_warp_values[warp] = value;
    __syncthreads();  // every warp's value is in its slot
    if (warp == 0) {
      value = lane < kWarps ? s_warp_values[lane] : identity;
      value = warp_reduce(value, combine);
    }
  }
  return value;
}

}  // namespace rooftile::ROOFTILE_TARGET
