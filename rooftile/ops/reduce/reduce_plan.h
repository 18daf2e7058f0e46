// How much work a block takes and how many blocks there are: the numbers that launchers and workspace sizes share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rooftile/core/device.h"

namespace rooftile::reduce_plan {

// The lesson rungs: 256 threads, one element each, pass after pass until one value is left.
inline constexpr int kPassBlock = 256;

// The grid-wide rungs: 512 threads, each with eight independent 16-byte loads in flight. On an H200, 1 GiB cold:
// eight loads by 1024 threads per SM take 243.9 us, four by 2048 take 244.5, two by 2048 take 247.4 (max of i32).
inline constexpr int kGridBlock = 512;
inline constexpr int kVectorBytes = 16;
inline constexpr int kVectorsInFlight = 8;
inline constexpr std::int64_t kTileBytes = std::int64_t{kGridBlock} * kVectorBytes * kVectorsInFlight;
inline constexpr int kResidentBlocks = 2;  // per SM: leaves each thread the 64 registers that eight loads need

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// The partial results that one pass over n elements leaves (one per block, at least one: an empty input still
// writes the identity).
constexpr std::int64_t pass_blocks(std::int64_t n) { return std::max<std::int64_t>(1, ceil_div(n, kPassBlock)); }

// Blocks of a grid-wide rung: a tile each while the input is small, a resident grid that strides over the tiles
// when it is large.
inline std::int64_t grid_blocks(std::int64_t bytes, const DeviceProperties& device) {
  const std::int64_t resident = std::int64_t{device.multiprocessors} * kResidentBlocks;
  return std::clamp<std::int64_t>(ceil_div(bytes, kTileBytes), 1, resident);
}

}  // namespace rooftile::reduce_plan
