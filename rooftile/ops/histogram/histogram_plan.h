// How a call is cut into blocks: what the table, choose() and the launchers share.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/operator.h"
#include "rooftile/ops/histogram/histogram.h"

namespace rooftile::histogram_plan {

inline constexpr std::int64_t kMostBins = 65536;
inline constexpr int kVectorBytes = 16;

// The rungs that climb: blocks of 256 threads, eight of them on a multiprocessor.
inline constexpr int kBlock = 256;
inline constexpr int kBlocks = 8;
inline constexpr int kWarps = kBlock / 32;
// Shared memory that a block may have for its counts: what is left of the device's, with a KiB for all else.
inline std::int64_t shared_bytes(const DeviceProperties& device) {
  return static_cast<std::int64_t>(device.shared_memory_per_block) - 1024;
}

// multi_pass: two blocks per multiprocessor, which share its memory.
inline constexpr int kRangeBlock = 512;
inline constexpr int kRangeBlocks = 2;

// lane_columns: a block per multiprocessor, two where their counters fit.
inline constexpr int kColumnBlock = 1024;
inline constexpr int kColumnBlocks = 2;
// In flight, of a thread: as many as its 32 registers hold; a vector of bytes is sixteen elements.
constexpr int column_vectors(std::size_t element) { return element == 1 ? 1 : 3; }
// byte_values: the same block, a counter for every value and lane.
inline constexpr int kByteValues = 256;
inline constexpr int kByteVectors = 4;
inline constexpr std::int64_t kColumnBytes = std::int64_t{128} * 1024;

struct Cut {
  int parts = 1;       // of the elements
  int ranges = 1;      // of the bins
  int range_bins = 1;  // of each range, the last may have fewer
  int copies = 1;
};

inline bool is_weighted(const HistogramArgs& args) { return !is_absent(args.weights); }
inline std::int64_t count_bytes(const HistogramArgs& args) { return is_weighted(args) ? 8 : 4; }

// Blocks that have so many vectors at a time, of which a multiprocessor has `blocks`. More of them than there are vectors for would
// have more counters to add up than elements to count.
inline int parts_of(const HistogramArgs& args, const DeviceProperties& device, int vectors,
                    std::int64_t blocks) {
  const std::int64_t bytes = args.in.numel() * static_cast<std::int64_t>(size_of(args.in.dtype));
  const std::int64_t tiles = ceil_div(bytes, std::int64_t{vectors} * kVectorBytes);
  return static_cast<int>(clamped(tiles, 1, larger(1, device.multiprocessors * blocks)));
}

// Blocks of `copies` times the bins each, as many as memory and threads let be resident.
inline Cut cut_private(const HistogramArgs& args, const DeviceProperties& device, int copies) {
  const std::int64_t bytes = args.bins * count_bytes(args) * copies;
  const std::int64_t blocks = clamped(shared_bytes(device) / larger(bytes, 1), 1, kBlocks);
  const int bins = static_cast<int>(args.bins);
  return {.parts = parts_of(args, device, kBlock, blocks), .range_bins = bins, .copies = copies};
}

// Ranges of bins that fit half of a multiprocessor's memory, each counted by blocks of its own.
inline Cut cut_ranges(const HistogramArgs& args, const DeviceProperties& device) {
  const std::int64_t most = shared_bytes(device) / kRangeBlocks / count_bytes(args);
  const std::int64_t ranges = ceil_div(args.bins, most);
  Cut cut = cut_private(args, device, 1);
  cut.ranges = static_cast<int>(ranges);
  cut.range_bins = static_cast<int>(ceil_div(args.bins, ranges));
  cut.parts = parts_of(args, device, kRangeBlock, kRangeBlocks);
  return cut;
}

// A copy for every lane, or for as few lanes as there is room for. 0: no room for one.
inline int column_copies(const HistogramArgs& args, const DeviceProperties& device) {
  const std::int64_t copies = smaller(kColumnBytes, shared_bytes(device)) / (larger(args.bins, 1) * 4);
  return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(smaller(copies, 32))));
}
inline Cut cut_columns(const HistogramArgs& args, const DeviceProperties& device) {
  const int copies = column_copies(args, device);
  const std::int64_t bytes = (args.bins + 1) * 4 * copies;
  const std::int64_t blocks = clamped(shared_bytes(device) / larger(bytes, 1), 1, kColumnBlocks);
  return {.parts = parts_of(args, device, kColumnBlock * column_vectors(size_of(args.in.dtype)), blocks),
          .range_bins = static_cast<int>(args.bins),
          .copies = copies};
}
inline Cut cut_bytes(const HistogramArgs& args, const DeviceProperties& device) {
  return {.parts = parts_of(args, device, kColumnBlock * kByteVectors, 1),
          .range_bins = static_cast<int>(args.bins)};
}

// The CPU's parts have counts of their own: of several times as many elements as bins.
inline std::int64_t host_parts(const HistogramArgs& args) {
  constexpr std::int64_t kMostParts = 64;
  return clamped(args.in.numel() / larger(65536, 4 * args.bins), 1, kMostParts);
}

}  // namespace rooftile::histogram_plan
