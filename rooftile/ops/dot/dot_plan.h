// How a call is cut into blocks: what the table, choose() and the launchers share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/ops/dot/dot.h"

namespace rooftile::dot_plan {

// The rungs that take one element at a time.
inline constexpr int kLessonBlock = 256;
inline constexpr int kLessonBlocks = 8;         // per SM: fill it
inline constexpr std::size_t kLessonSums = 16;  // bytes: their sums and a ticket

// single_pass: two blocks per SM leave each thread 64 registers, enough for four vectors of each input in flight.
inline constexpr int kPassBlock = 512;
inline constexpr int kPassBlocks = 2;  // per SM
inline constexpr int kVectorBytes = 16;
inline constexpr int kVectorsInFlight = 4;  // of each input

// bulk_ring: stages of a ring in shared memory, three in each of two blocks per SM as for reduce.
inline constexpr int kRingStages = 3;
inline constexpr int kRingStageBytes = 16384;  // of each input
// From this size of a vector on it is the faster one. On an H200, f32, cold, single_pass against the ring: 2^25 73.4 and
// 75.8 us, 2^26 136.7 and 135.0, 2^28 499.3 and 491.6.
inline constexpr std::int64_t kRingFromBytes = std::int64_t{192} << 20;

struct Cut {
  std::int64_t blocks = 1;
  std::int64_t loads = 1;  // vectors of each input that a thread has in flight
};

// A dtype of accumulation that a call asks for.
inline DType compute_dtype(const DotArgs& args) {
  return args.compute_dtype.value_or(args.a.dtype == DType::f64 ? DType::f64 : DType::f32);
}

inline bool has_gaps(const DotArgs& args) { return !args.a.contiguous() || !args.b.contiguous(); }

// The grid of the rungs that take one element at a time.
inline std::int64_t lesson_blocks(std::int64_t n, const DeviceProperties& device) {
  return clamped(ceil_div(n, kLessonBlock), 1, std::int64_t{device.multiprocessors} * kLessonBlocks);
}

// As few loads per thread as keep all blocks resident; from there on full tiles, every `blocks`-th to a block.
inline Cut cut_pass(const DotArgs& args, const DeviceProperties& device) {
  const std::int64_t vectors =
      args.a.numel() * static_cast<std::int64_t>(size_of(args.a.dtype)) / kVectorBytes;
  const std::int64_t resident = std::int64_t{device.multiprocessors} * kPassBlocks;
  for (std::int64_t loads = 1; loads < kVectorsInFlight; loads *= 2) {
    const std::int64_t tiles = ceil_div(vectors, kPassBlock * loads);
    if (tiles <= resident) return {larger(1, tiles), loads};
  }
  return {smaller(ceil_div(vectors, std::int64_t{kPassBlock} * kVectorsInFlight), resident),
          kVectorsInFlight};
}

inline Cut cut_ring(const DotArgs& args, const DeviceProperties& device) {
  const std::int64_t bytes = args.a.numel() * static_cast<std::int64_t>(size_of(args.a.dtype));
  return {clamped(ceil_div(bytes, kRingStageBytes), 1, std::int64_t{device.multiprocessors} * kPassBlocks)};
}

}  // namespace rooftile::dot_plan
