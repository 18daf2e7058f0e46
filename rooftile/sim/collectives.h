// Barriers and warp collectives of the simulated SM.
//
// A collective completes when all lanes of its mask that have not exited have called it. Lanes of a mask may
// call it from different source lines, but must call the same intrinsic. A lane that is not in its own mask,
// and different intrinsics with one mask, end the launch; a shuffle from a lane outside the mask gives poison
// bits. A mask that names a lane which never comes is a deadlock, and ends the launch too.
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>
#include <string>
#include <type_traits>

#include "rooftile/sim/thread.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

inline constexpr int warpSize = 32;

// Exited threads count as arrived. Threads that wait at different source lines end the launch.
inline void __syncthreads(std::source_location where = std::source_location::current()) {
  detail::block_barrier(detail::BarrierOp::plain, false, where);
}
inline int __syncthreads_count(int predicate, std::source_location where = std::source_location::current()) {
  return detail::block_barrier(detail::BarrierOp::count, predicate != 0, where);
}
inline int __syncthreads_and(int predicate, std::source_location where = std::source_location::current()) {
  return detail::block_barrier(detail::BarrierOp::all, predicate != 0, where);
}
inline int __syncthreads_or(int predicate, std::source_location where = std::source_location::current()) {
  return detail::block_barrier(detail::BarrierOp::any, predicate != 0, where);
}

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       std::source_location where = std::source_location::current()) {
  detail::warp_collective(detail::WarpOp::sync, mask, 0, 0, where);
}

// The lanes that come to this line while no other lane of the warp can go on: those that a GPU finds converged,
// though it promises no more than the caller itself.
inline unsigned __activemask(std::source_location where = std::source_location::current()) {
  return detail::active_lanes(where);
}

inline unsigned __ballot_sync(unsigned mask, int predicate,
                              std::source_location where = std::source_location::current()) {
  return static_cast<unsigned>(
      detail::warp_collective(detail::WarpOp::ballot, mask, predicate != 0 ? 1 : 0, 0, where));
}
inline int __any_sync(unsigned mask, int predicate,
                      std::source_location where = std::source_location::current()) {
  return static_cast<int>(
      detail::warp_collective(detail::WarpOp::any, mask, predicate != 0 ? 1 : 0, 0, where));
}
inline int __all_sync(unsigned mask, int predicate,
                      std::source_location where = std::source_location::current()) {
  return static_cast<int>(
      detail::warp_collective(detail::WarpOp::all, mask, predicate != 0 ? 1 : 0, 0, where));
}

namespace detail {

template <class T>
std::uint64_t to_bits(const T& value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_destructible_v<T>);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

inline unsigned lane_id() { return current_thread->lane; }

inline unsigned checked_width(int width, std::source_location where) {
  if (width < 1 || width > warpSize || (width & (width - 1)) != 0) {
    report_failure("a shuffle's width must be 1, 2, 4, 8, 16 or 32, not " + std::to_string(width), where);
    abandon_thread();
  }
  return static_cast<unsigned>(width);
}

template <class T>
T shuffle(WarpOp op, unsigned mask, const T& value, unsigned source, std::source_location where) {
  return from_bits<T>(warp_collective(op, mask, to_bits(value), source, where));
}

}  // namespace detail

// Source lanes as the PTX manual defines them for shfl.sync: operands are taken modulo 32, and a lane whose
// source is outside its segment keeps its own value.
template <class T>
T __shfl_sync(unsigned mask, T value, int source_lane, int width = warpSize,
              std::source_location where = std::source_location::current()) {
  const unsigned segment = detail::checked_width(width, where) - 1;
  const unsigned source = (detail::lane_id() & ~segment) | (static_cast<unsigned>(source_lane) & segment);
  return detail::shuffle(detail::WarpOp::shuffle_index, mask, value, source, where);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 std::source_location where = std::source_location::current()) {
  const unsigned segment = detail::checked_width(width, where) - 1;
  const unsigned lane = detail::lane_id();
  const unsigned distance = delta & 31u;
  const unsigned source = (lane & segment) >= distance ? lane - distance : lane;
  return detail::shuffle(detail::WarpOp::shuffle_up, mask, value, source, where);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   std::source_location where = std::source_location::current()) {
  const unsigned segment = detail::checked_width(width, where) - 1;
  const unsigned lane = detail::lane_id();
  const unsigned target = lane + (delta & 31u);
  return detail::shuffle(detail::WarpOp::shuffle_down, mask, value,
                         target <= (lane | segment) ? target : lane, where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize,
                  std::source_location where = std::source_location::current()) {
  const unsigned segment = detail::checked_width(width, where) - 1;
  const unsigned lane = detail::lane_id();
  const unsigned target = lane ^ (static_cast<unsigned>(lane_mask) & 31u);
  return detail::shuffle(detail::WarpOp::shuffle_xor, mask, value, target <= (lane | segment) ? target : lane,
                         where);
}

// 32- and 64-bit values, compared bit for bit.
template <class T>
unsigned __match_any_sync(unsigned mask, T value,
                          std::source_location where = std::source_location::current()) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  return static_cast<unsigned>(
      detail::warp_collective(detail::WarpOp::match_any, mask, detail::to_bits(value), 0, where));
}
template <class T>
unsigned __match_all_sync(unsigned mask, T value, int* predicate,
                          std::source_location where = std::source_location::current()) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
  const auto lanes = static_cast<unsigned>(
      detail::warp_collective(detail::WarpOp::match_all, mask, detail::to_bits(value), 0, where));
  *predicate = lanes != 0 ? 1 : 0;
  return lanes;
}

#define ROOFTILE_SIM_REDUCE(T, name, op)                                                                  \
  inline T __reduce_##name##_sync(unsigned mask, T value,                                                 \
                                  std::source_location where = std::source_location::current()) {         \
    return static_cast<T>(static_cast<std::uint32_t>(                                                     \
        detail::warp_collective(detail::WarpOp::op, mask, static_cast<std::uint32_t>(value), 0, where))); \
  }
ROOFTILE_SIM_REDUCE(unsigned, add, add_unsigned)
ROOFTILE_SIM_REDUCE(unsigned, min, min_unsigned)
ROOFTILE_SIM_REDUCE(unsigned, max, max_unsigned)
ROOFTILE_SIM_REDUCE(int, add, add_signed)
ROOFTILE_SIM_REDUCE(int, min, min_signed)
ROOFTILE_SIM_REDUCE(int, max, max_signed)
ROOFTILE_SIM_REDUCE(unsigned, and, bit_and)
ROOFTILE_SIM_REDUCE(unsigned, or, bit_or)
ROOFTILE_SIM_REDUCE(unsigned, xor, bit_xor)
#undef ROOFTILE_SIM_REDUCE

// Blocks run on one coherent host: a fence is a fence of the host.
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
