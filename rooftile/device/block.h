// Block-wide reduce, scan and broadcast: one value per warp through shared memory.
//
// All threads of a one-dimensional block of kThreads threads call together. kThreads may be any number up to
// 1024: the last warp may be partial. `s_warp_values` is the caller's shared memory, one slot per warp; it
// may be written again after the next __syncthreads(). The order of every combination is fixed. A thread that
// has no value brings the identity.
#pragma once

#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

template <int kThreads>
inline constexpr int kWarpsOf = (kThreads + kWarpSize - 1) / kWarpSize;

// How many threads of a block are in this thread's warp.
template <int kThreads>
__device__ __forceinline__ int lanes_of_warp() {
  static_assert(kThreads >= 1 && kThreads <= 1024, "a block; its warp values are one warp's lanes");
  constexpr int kLast = kThreads % kWarpSize;
  if constexpr (kLast == 0) return kWarpSize;
  return warp_index() == kWarpsOf<kThreads> - 1 ? kLast : kWarpSize;
}

// Combines `value` over this thread's warp.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ T reduce_own_warp(T value, Combine combine ROOFTILE_AND_CALLER) {
  if constexpr (kThreads % kWarpSize == 0) {
    return warp_reduce(value, combine ROOFTILE_AND_HERE);
  } else {
    return warp_reduce(value, combine, lanes_of_warp<kThreads>() ROOFTILE_AND_HERE);
  }
}

// Combines `value` over the block; thread 0 returns the result, the others an unspecified value. `combine`
// must be associative and commutative. One barrier.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ T block_reduce(T value, T identity, T (&s_warp_values)[kWarpsOf<kThreads>],
                                          Combine combine ROOFTILE_AND_CALLER) {
  value = reduce_own_warp<kThreads>(value, combine ROOFTILE_AND_HERE);
  if constexpr (kThreads > kWarpSize) {
    if (lane_index() == 0) s_warp_values[warp_index()] = value;
    __syncthreads(ROOFTILE_HERE);  // every warp's value is in its slot
    if (warp_index() == 0) {
      value = lane_index() < kWarpsOf<kThreads> ? s_warp_values[lane_index()] : identity;
      value = warp_reduce(value, combine ROOFTILE_AND_HERE);
    }
  }
  return value;
}

// The same, and every thread returns the result: each warp combines the warp values for itself. One barrier;
// two where the last warp is partial and may have too few lanes for that.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ T block_all_reduce(T value, T identity, T (&s_warp_values)[kWarpsOf<kThreads>],
                                              Combine combine ROOFTILE_AND_CALLER) {
  if constexpr (kThreads <= kWarpSize) {
    return reduce_own_warp<kThreads>(value, combine ROOFTILE_AND_HERE);
  } else if constexpr (kThreads % kWarpSize == 0) {
    value = warp_reduce(value, combine ROOFTILE_AND_HERE);
    if (lane_index() == 0) s_warp_values[warp_index()] = value;
    __syncthreads(ROOFTILE_HERE);  // every warp's value is in its slot
    value = lane_index() < kWarpsOf<kThreads> ? s_warp_values[lane_index()] : identity;
    return warp_reduce(value, combine ROOFTILE_AND_HERE);
  } else {
    value = block_reduce<kThreads>(value, identity, s_warp_values, combine ROOFTILE_AND_HERE);
    // Thread 0 has combined what its warp read from the slots: nobody reads them any more.
    if (threadIdx.x == 0) s_warp_values[0] = value;
    __syncthreads(ROOFTILE_HERE);  // the result is in slot 0
    return s_warp_values[0];
  }
}

// What a thread gets from a block-wide scan.
template <class T>
struct Scanned {
  T value;  // the combination of the threads before it (exclusive), or up to and with it (inclusive)
  T total;  // of the whole block, in every thread
};

// From each thread's inclusive scan over its own warp: what the warps before it combine to (in warp 0
// unspecified), and the total. Two barriers.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ Scanned<T> scan_warps(T inclusive, T (&s_warp_values)[kWarpsOf<kThreads>],
                                                 Combine combine ROOFTILE_AND_CALLER) {
  constexpr int kWarps = kWarpsOf<kThreads>;
  const int last = lanes_of_warp<kThreads>() - 1;
  if constexpr (kWarps == 1) {
    return {inclusive, warp_broadcast(inclusive, last, kThreads ROOFTILE_AND_HERE)};
  } else {
    if (lane_index() == last) s_warp_values[warp_index()] = inclusive;
    __syncthreads(ROOFTILE_HERE);  // every warp's total is in its slot
    if (warp_index() == 0 && lane_index() < kWarps) {
      s_warp_values[lane_index()] =
          warp_inclusive_scan(s_warp_values[lane_index()], combine, kWarps ROOFTILE_AND_HERE);
    }
    __syncthreads(ROOFTILE_HERE);  // slot w: the combination of warps 0 ... w
    return {warp_index() > 0 ? s_warp_values[warp_index() - 1] : inclusive, s_warp_values[kWarps - 1]};
  }
}

// Thread i gets the combination of threads 0 ... i, in that order: `combine` must be associative. Two
// barriers; none in a block of one warp.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ Scanned<T> block_inclusive_scan(T value, T (&s_warp_values)[kWarpsOf<kThreads>],
                                                           Combine combine ROOFTILE_AND_CALLER) {
  const T own = warp_inclusive_scan(value, combine, lanes_of_warp<kThreads>() ROOFTILE_AND_HERE);
  const Scanned<T> warps = scan_warps<kThreads>(own, s_warp_values, combine ROOFTILE_AND_HERE);
  return {warp_index() > 0 ? combine(warps.value, own) : own, warps.total};
}

// Thread i gets the combination of threads 0 ... i - 1, thread 0 the identity. Barriers as above.
template <int kThreads, class T, class Combine>
__device__ __forceinline__ Scanned<T> block_exclusive_scan(T value, T identity,
                                                           T (&s_warp_values)[kWarpsOf<kThreads>],
                                                           Combine combine ROOFTILE_AND_CALLER) {
  const int lanes = lanes_of_warp<kThreads>();
  const T own = warp_inclusive_scan(value, combine, lanes ROOFTILE_AND_HERE);
  const T shifted = shuffle_up(own, 1, lanes ROOFTILE_AND_HERE);
  const T before = lane_index() == 0 ? identity : shifted;
  const Scanned<T> warps = scan_warps<kThreads>(own, s_warp_values, combine ROOFTILE_AND_HERE);
  return {warp_index() > 0 ? combine(warps.value, before) : before, warps.total};
}

// Every thread returns the value of thread `source`. One
// barrier; `s_slot` may be written again after the next.
template <class T>
__device__ __forceinline__ T block_broadcast(T value, int source, T& s_slot ROOFTILE_AND_CALLER) {
  if (static_cast<int>(threadIdx.x) == source) s_slot = value;
  __syncthreads(ROOFTILE_HERE);  // the value is in the slot
  return s_slot;
}

}  // namespace rooftile::ROOFTILE_TARGET
