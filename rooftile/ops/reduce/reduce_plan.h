// How a call is cut into blocks: the numbers that launchers, workspace sizes and choose() share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/rung.h"
#include "rooftile/ops/reduce/reduce.h"

namespace rooftile::reduce_plan {

// The lesson rungs: 256 threads, pass after pass until one value is left.
inline constexpr int kPassBlock = 256;
// multiple_adds and warp_shuffle: elements that a thread of the lesson rungs adds on its way before the tree.
inline constexpr int kPassItems = 8;

// Their largest grid where the kernel strides over the input: 8 blocks of 256 fill an SM.
inline std::int64_t lesson_grid(const DeviceProperties& device) {
  return std::int64_t{device.multiprocessors} * 8;
}

// The grid-wide rungs: 512 threads, each with eight independent 16-byte loads in flight. On an H200, 1 GiB
// cold: eight loads by 1024 threads per SM take 243.9 us, four by 2048 take 244.5, two by 2048 take 247.4
// (max of i32).
inline constexpr int kGridBlock = 512;
inline constexpr int kVectorBytes = 16;
inline constexpr int kVectorsInFlight = 8;
inline constexpr std::int64_t kTileBytes = std::int64_t{kGridBlock} * kVectorBytes * kVectorsInFlight;
inline constexpr int kResidentBlocks =
    2;  // per SM: leaves each thread the 64 registers that eight loads need

// A warp takes a row up to here; a block takes a longer one. 8 loads of 32 lanes are 4 KiB.
inline constexpr std::int64_t kWarpRowBytes = 8192;

// column_tiles: 8 warps side by side along the reduced axis, 32 lanes of one vector each along the inner one.
inline constexpr int kColumnWarps = 8;
inline constexpr int kColumnLoads = 4;  // in flight per thread
inline constexpr int kColumnSplitRows =
    8;  // at least so many rows per warp before the axis is split over blocks

// From this size on the copy engine brings the bytes. On an H200, f32, cold, loads against ring: 269 MB 72.5 and
// 73.5 us, 319 MB 84.7 and 84.2, 494 MB 126.0 and 122.2, 1 GiB 260 and 248; f64 and bf16 as f32. Sums of bytes,
// whose loads wait for more instructions: 95 MB 35.0 and 34.9 us, 134 MB 46.9 and 44.5, 1 GiB 327 and 249.
constexpr std::int64_t ring_from_bytes(ReduceOp op, std::size_t element_size) {
  const bool byte_sums = element_size == 1 && (op == ReduceOp::sum || op == ReduceOp::mean);
  return std::int64_t{byte_sums ? 96 : 304} << 20;
}

// single_wave: a block per SM at most, and what it reads is in flight all at once.
inline constexpr int kWaveBlock = 1024;
inline constexpr int kWaveBlocks = 256;  // at most: one warp reads the partial results all at once
// 1024 threads leave each 64 registers: eight loads for sums, fewer where elements are unpacked and compared.
constexpr int wave_loads(ReduceOp op, std::size_t element_size) {
  if (op == ReduceOp::sum || op == ReduceOp::mean) return 8;
  return element_size == 1 ? 2 : 4;
}

// bulk_ring: stages of a ring in shared memory. On an H200, f32 2^28 cold: 3 x 32 KiB in each of two blocks
// per SM 247.6 us, 6 x 16 247.7, 6 x 32 in one block 247.9, 4 x 16 248.0, 3 x 16 249.4; by loads 248.8, by
// CUB 251.0.
inline constexpr int kRingStages = 3;
inline constexpr int kRingStageBytes = 32768;

inline constexpr int kGatherBlock = 256;

// How the elements lie: in[outer][reduced][inner] without gaps, or anyhow (then outer and inner are whatever stands
// before and behind the first reduced axis).
enum class Pattern { all, rows, columns, strided };
struct Geometry {
  Pattern pattern = Pattern::all;
  std::int64_t outer = 1;
  std::int64_t reduced = 1;  // elements that meet in one output
  std::int64_t inner = 1;
  [[nodiscard]] std::int64_t outputs() const { return outer * inner; }
};
// Precondition: the arguments passed reduce's checks.
[[nodiscard]] Geometry geometry(const ReduceArgs& args);

// How a call is cut into blocks: decided by the row's plan, read by its launcher.
struct Cut {
  Geometry shape;
  std::int64_t blocks = 1;  // that share the input, a row, or a tile of columns
  std::int64_t loads = 1;   // vectors of a thread in flight
};

// Whether every row starts at a 16-byte boundary and ends at one.
[[nodiscard]] bool serves_column_tiles(const ReduceArgs& args);

// The partial results that one pass over n elements leaves (one per block, at least one: an empty input still
// writes the identity).
constexpr std::int64_t pass_blocks(std::int64_t n, int items = 1) {
  return larger(1, ceil_div(n, std::int64_t{kPassBlock} * items));
}

// How a row is shared: `parts` blocks, each with `loads` vectors of every thread in flight. While the rows do
// not fill the GPU, a block takes one tile of few loads, so that all SMs help; then full tiles, every
// parts-th to a block.
struct RowSplit {
  std::int64_t parts = 1;
  int loads = kVectorsInFlight;
};
inline RowSplit split_row(std::int64_t rows, std::int64_t row_bytes, const DeviceProperties& device) {
  const std::int64_t resident = std::int64_t{device.multiprocessors} * kResidentBlocks;
  const std::int64_t share = larger(1, resident / larger(1, rows));
  for (const int loads : {2, 4}) {
    const std::int64_t tiles = ceil_div(row_bytes, kTileBytes / kVectorsInFlight * loads);
    if (tiles <= share) return {larger(1, tiles), loads};
  }
  return {clamped(ceil_div(row_bytes, kTileBytes), 1, share), kVectorsInFlight};
}

// single_wave: a tile of kWaveBlock * loads vectors to a block, as few loads as keep the blocks to one per
// SM.
struct WaveSplit {
  std::int64_t blocks = 1;
  std::int64_t loads = 2;
};
inline WaveSplit split_wave(std::int64_t vectors, const DeviceProperties& device) {
  const std::int64_t most = smaller(device.multiprocessors, kWaveBlocks);
  const std::int64_t loads = larger(1, ceil_div(ceil_div(vectors, kWaveBlock), 2 * most)) * 2;
  return {larger(1, ceil_div(vectors, kWaveBlock * loads)), loads};
}
// Whether all of n contiguous elements can be in flight at once.
[[nodiscard]] bool serves_single_wave(const ReduceArgs& args, const DeviceProperties& device);

inline std::int64_t ring_blocks(std::int64_t bytes, const DeviceProperties& device) {
  return clamped(ceil_div(bytes, kRingStageBytes), 1, std::int64_t{device.multiprocessors} * kResidentBlocks);
}

// Tiles of 32 vectors side by side.
constexpr std::int64_t column_tiles(std::int64_t inner, std::size_t element_size) {
  return ceil_div(inner * static_cast<std::int64_t>(element_size), std::int64_t{32} * kVectorBytes);
}

// Blocks that share a tile of columns: two rounds of eight blocks per SM, rounded down, because a few blocks
// more than that make a third round. On an H200, f32 4096 x 16384, 17 parts of 128 tiles took 73.9 us, 0.93
// of the bound.
inline std::int64_t column_parts(std::int64_t tiles, std::int64_t reduced, const DeviceProperties& device) {
  const std::int64_t wanted = std::int64_t{device.multiprocessors} * 16 / larger(1, tiles);
  const std::int64_t possible = larger(1, reduced / (std::int64_t{kColumnWarps} * kColumnSplitRows));
  return clamped(wanted, 1, smaller(possible, 65535));
}

// Bytes of an accumulator in the workspace: the widest, a value and its index.
inline constexpr std::int64_t kAccumulatorBytes = 16;

}  // namespace rooftile::reduce_plan
