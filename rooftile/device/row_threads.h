// The threads that have one row together: some lanes of a warp, a warp, or a whole block.
//
//   using Threads = RowThreads<128>;
//   const float total = Threads::all_reduce(own, 0.0f, s_values, [](auto lanes, float x) {
//     return lanes_reduce<lanes>(x, Add{});
//   });
//
// All threads of a block call together. `over_lanes(lanes, x)` combines x over each group of `lanes` neighbouring lanes (a
// power of two, a std::integral_constant), and every lane gets the result: operators that combine pairs of numbers do it
// there in as few steps as they need. `s_values` is the caller's shared memory; it may be written again after the next
// __syncthreads(). The order of every combination is fixed.
#pragma once

#include <bit>
#include <type_traits>

#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// Combines `value` over groups of kLanes neighbouring lanes of a full warp: a butterfly.
template <int kLanes, class T, class Combine>
__device__ __forceinline__ T lanes_reduce(T value, Combine combine ROOFTILE_AND_CALLER) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2)
    value = combine(value, shuffle_xor(value, offset, kWarpSize ROOFTILE_AND_HERE));
  return value;
}

template <int kThreads_>
struct RowThreads {
  static constexpr int kThreads = kThreads_;
  static constexpr int kLanes = kThreads < kWarpSize ? kThreads : kWarpSize;
  static constexpr int kWarps = kThreads / kLanes;
  static_assert((kLanes & (kLanes - 1)) == 0 && kWarps * kLanes == kThreads && kWarps <= kWarpSize,
                "a power of two up to a warp, or whole warps");

  // This thread's place among them, and which of the block's rows is theirs.
  __device__ __forceinline__ static int index() { return static_cast<int>(threadIdx.x) % kThreads; }
  __device__ __forceinline__ static int row() { return static_cast<int>(threadIdx.x) / kThreads; }

  // With more than a warp the block has no other threads; one barrier.
  template <class T, class OverLanes>
  __device__ __forceinline__ static T all_reduce(T value, T identity, T (&s_values)[kWarps],
                                                 OverLanes over_lanes ROOFTILE_AND_CALLER) {
    value = over_lanes(std::integral_constant<int, kLanes>{}, value);
    if constexpr (kWarps > 1) {
      if (lane_index() == 0) s_values[warp_index()] = value;
      __syncthreads(ROOFTILE_HERE);  // every warp's value is in its slot
      // As many lanes as there are warps, and all groups of them alike.
      constexpr int kGroup = static_cast<int>(std::bit_ceil(static_cast<unsigned>(kWarps)));
      const int warp = lane_index() % kGroup;
      value = warp < kWarps ? s_values[warp] : identity;
      value = over_lanes(std::integral_constant<int, kGroup>{}, value);
    }
    return value;
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
