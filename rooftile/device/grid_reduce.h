// One value from all threads of a grid, in one launch and always in the same order.
#pragma once

#include <cstdint>

#include "rooftile/device/block.h"
#include "rooftile/device/last_block.h"

namespace rooftile::ROOFTILE_TARGET {

// Combines `value` over the grid. True in one thread of the grid, where `value` is the result then; the other threads
// have nothing left to do. By all threads of one-dimensional blocks of kThreads, a multiple of 32. `combine` must be
// associative and commutative. g_partials: a T for every block; g_ticket: zero before, and zero again afterwards.
// Neither is touched by a grid of one block.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ bool grid_reduce(T& value, T identity, T (&s_warp_values)[kWarpsOf<kThreads>],
                                            T* g_partials, std::uint32_t* g_ticket,
                                            Combine combine ROOFTILE_AND_CALLER) {
  static_assert(kThreads % kWarpSize == 0, "whole warps");
  value = block_reduce<kThreads>(value, identity, s_warp_values, combine ROOFTILE_AND_HERE);
  if (threadIdx.x >= kWarpSize) return false;
  const int lane = lane_index();
  if (gridDim.x > 1) {
    if (lane == 0) g_partials[blockIdx.x] = value;
    if (!is_last_warp(g_ticket, gridDim.x)) return false;
    constexpr unsigned kAtOnce = 8;  // per lane, their loads independent
    value = identity;
    for (unsigned first = 0; first < gridDim.x; first += kAtOnce * kWarpSize) {
      T r_partials[kAtOnce];
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k) {
        const unsigned i = first + k * kWarpSize + static_cast<unsigned>(lane);
        r_partials[k] = i < gridDim.x ? g_partials[i] : identity;
      }
#pragma unroll
      for (unsigned k = 0; k < kAtOnce; ++k) value = combine(value, r_partials[k]);
    }
    value = warp_reduce(value, combine ROOFTILE_AND_HERE);
  }
  return lane == 0;
}

}  // namespace rooftile::ROOFTILE_TARGET
