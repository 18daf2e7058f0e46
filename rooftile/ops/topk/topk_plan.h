// How a call is cut up: what the table, choose() and the launchers share.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/workspace.h"
#include "rooftile/ops/topk/topk.h"

namespace rooftile::topk_plan {

inline constexpr std::int64_t kMostColumns =
    4294967294;  // of a row: an index is a word, and one of them says "none"
inline constexpr std::int64_t kMostRows = 2147483647;
inline constexpr int kVectorBytes = 16;
inline constexpr int kThreads = 512;
inline constexpr int kVectors = 4;  // of 16 bytes that a thread has in flight

// Candidates that a block keeps in shared memory, and the largest k that this serves.
inline constexpr int kBufferRanks = 4096;
inline constexpr std::int64_t kMostBuffered = 1024;
// The largest k whose elements get their places by counting.
inline constexpr std::int64_t kMostCounted = 256;

// What a block keeps of its part of a row, at most.
constexpr int kept_slots(std::int64_t k) { return static_cast<int>(larger(2 * k, 64)); }

// An element's key and index as one number (topk_ranks.h).
constexpr std::size_t rank_bytes(std::size_t element) { return element == 8 ? 16 : 8; }
inline std::size_t rank_bytes(const TopkArgs& args) { return rank_bytes(size_of(args.in.dtype)); }

struct Rows {
  std::int64_t count = 0;
  std::int64_t length = 0;
};
inline Rows rows_of(const TopkArgs& args) {
  const std::int64_t length = args.in.shape[args.in.rank() - 1];
  return {length == 0 ? 0 : args.in.numel() / length, length};
}

constexpr std::int64_t power_of_two(std::int64_t least) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(larger(least, 1))));
}

// What a row of so many ranks is padded to, to be sorted: at least a block's pairs.
constexpr std::int64_t sorted_ranks(std::int64_t count) { return larger(power_of_two(count), 64); }

// radix_select: digits of 11 bits of a rank of key and index, the highest first.
inline constexpr int kDigitBits = 11;
inline constexpr int kBins = 1 << kDigitBits;
inline constexpr std::size_t kRowStateBytes = 32;
// Rows at a time: their counts take 8 KiB each, and the ranks of all of them no more than this where that is not one row.
inline constexpr std::int64_t kRadixRows = 1024;
inline constexpr std::int64_t kRadixRankBytes = std::int64_t{256} << 20;
inline std::int64_t radix_rows(const TopkArgs& args) {
  const std::int64_t bytes = sorted_ranks(args.k) * static_cast<std::int64_t>(rank_bytes(args));
  return clamped(kRadixRankBytes / bytes, 1, larger(smaller(rows_of(args).count, kRadixRows), 1));
}
struct RadixCut {
  std::int64_t rows = 0;
  std::int64_t parts = 1;
};
constexpr int digits_of(std::size_t element) {
  return static_cast<int>(ceil_div(element == 8 ? 96 : 64, kDigitBits));
}

// Parts of a row, a block each.
struct Parts {
  std::int64_t parts = 1;
};
// As many as fill the device, of at least a tile each: `vectors` of each thread.
inline Parts parts_of(const TopkArgs& args, const DeviceProperties& device, int blocks_per_multiprocessor,
                      int vectors) {
  const Rows rows = rows_of(args);
  const auto size = static_cast<std::int64_t>(size_of(args.in.dtype));
  const std::int64_t tiles = ceil_div(rows.length * size, std::int64_t{kThreads} * vectors * kVectorBytes);
  const std::int64_t blocks = std::int64_t{device.multiprocessors} * blocks_per_multiprocessor;
  return {clamped(ceil_div(blocks, larger(rows.count, 1)), 1, larger(tiles, 1))};
}

// The CPU's: parts of a few long rows, each of several times k elements.
inline Parts host_parts_of(const TopkArgs& args) {
  constexpr std::int64_t kTasks = 64;
  constexpr std::int64_t kPart = 16384;
  const Rows rows = rows_of(args);
  const std::int64_t most = smaller(rows.length / kPart, rows.length / larger(4 * args.k, 1));
  std::int64_t parts = clamped(kTasks / larger(rows.count, 1), 1, larger(most, 1));
  // The last part has k elements, too.
  while (parts > 1 && rows.length - (parts - 1) * ceil_div(rows.length, parts) < args.k) --parts;
  return {parts};
}

// sampled_threshold. A warp's 512 bytes out of so many, at most kSampleStride, are looked at first, by kSampleBlocks blocks.
inline constexpr int kSampleStride = 64;
inline constexpr int kSampleBlocks = 64;
inline constexpr int kFilterBlocks = 2;  // per multiprocessor
inline constexpr int kFilterVectors = 2 * kVectors;
// Lanes that have one maximum between them: enough groups for k.
constexpr int sample_lanes(std::int64_t k) { return k <= 256 ? 32 : 8; }
constexpr std::int64_t sample_groups(std::int64_t k) {
  return std::int64_t{kSampleBlocks} * kThreads / sample_lanes(k);
}
inline constexpr std::int64_t kSampledBytes = 16384;  // of a row, or there is too little to be sampled
struct SampleCut {
  std::int64_t parts = 1;
  int stride = kSampleStride;  // 0: of a row too short for a good threshold, all is looked at
};
// Of a random row some 1.3 k times `stride` elements are not below the threshold. Up to kBufferRanks have room in the last block;
// more of them cost it some 1.2 ns each, and a smaller stride costs the sample a microsecond for each 1.5 MB that it reads. Of short
// rows enough is looked at for four groups to each of the k.
inline SampleCut sample_cut(const TopkArgs& args, const DeviceProperties& device) {
  const std::int64_t bytes = rows_of(args).length * static_cast<std::int64_t>(size_of(args.in.dtype));
  const std::int64_t k = larger(args.k, 1);
  const std::int64_t most = bytes / kVectorBytes / (4 * k * sample_lanes(k));
  const auto cheapest =
      static_cast<std::int64_t>(std::sqrt(static_cast<double>(bytes) / (2400.0 * static_cast<double>(k))));
  const std::int64_t wanted = clamped(larger(kBufferRanks / (2 * k), cheapest), 1, kSampleStride);
  return {.parts = parts_of(args, device, kFilterBlocks, kFilterVectors).parts,
          .stride = static_cast<int>(smaller(most, wanted))};
}

// cluster_rows: blocks of a cluster, and what each has of the row. A block's threads are a group each at most: for a k that
// many groups are needed for there are more blocks.
inline constexpr int kChunkBytes = 1024;  // of the row, to the blocks in turn
inline constexpr int kMostCluster = 8;
inline constexpr std::int64_t kPartBytes = 65536;       // as long as fewer blocks than kMostCluster do
inline constexpr std::int64_t kMostPartBytes = 131072;  // beside the candidates
struct ClusterCut {
  int blocks = 1;
  int chunks = 1;  // of a block
};
// Lanes that have one maximum between them: groups enough for k, and few elements in each.
constexpr int cluster_lanes(std::int64_t k, int blocks) { return k <= std::int64_t{blocks} * 32 ? 8 : 1; }
// blocks = 0: the row is too long. A row may begin anywhere to a 16-byte boundary.
inline ClusterCut cluster_cut(const TopkArgs& args) {
  const std::int64_t bytes =
      rows_of(args).length * static_cast<std::int64_t>(size_of(args.in.dtype)) + kVectorBytes;
  int blocks = 1;
  const auto is_small = [&] {
    return bytes > blocks * kPartBytes || std::int64_t{kThreads} * blocks < 4 * args.k;
  };
  while (blocks < kMostCluster && is_small()) blocks *= 2;
  const std::int64_t chunks = ceil_div(bytes, std::int64_t{blocks} * kChunkBytes);
  if (chunks * kChunkBytes > kMostPartBytes) return {.blocks = 0};
  return {.blocks = blocks, .chunks = static_cast<int>(chunks)};
}

// shared_parts: the part of a row that a block has, in vectors of its threads. Rows that a small block holds have one of those.
inline constexpr int kPartVectors = 8;
inline constexpr int kSmallThreads = 128;
inline constexpr int kSmallVectors = 4;
inline constexpr int kPartThreads = 1536;  // on a multiprocessor
inline constexpr std::int64_t kMostParts = 128;
// Of ranks that a threshold is looked for among, not below it.
constexpr std::int64_t most_of(std::int64_t k) { return k + k / 2 + 8; }
// Room for what is not below the last of the thresholds.
inline constexpr int kBestRanks = 512;
inline constexpr std::int64_t kStaticShared = 1024;  // what the kernel has beside
struct PartCut {
  bool is_small = false;
  int parts = 1;
  int groups = 1;  // of a block's threads, each with one maximum
  int room = 1;    // for elements of a part that are not below its threshold
  int kept = 1;    // of these, at most
  int most = 1;    // not below a threshold, of those that it is looked for among
  int ranks = 1;   // in a block's shared memory
};
// parts = 0: the row is too long, k too large, a block's shared memory too small. A row may begin anywhere to a 16-byte boundary.
inline PartCut part_cut(const TopkArgs& args, const DeviceProperties& device) {
  const std::int64_t bytes =
      rows_of(args).length * static_cast<std::int64_t>(size_of(args.in.dtype)) + kVectorBytes;
  constexpr std::int64_t kSmallBytes = std::int64_t{kSmallThreads} * kSmallVectors * kVectorBytes;
  constexpr std::int64_t kPartOfRow = std::int64_t{kThreads} * kPartVectors * kVectorBytes;
  const std::int64_t parts = ceil_div(bytes, kPartOfRow);
  if (parts > kMostParts || args.k > kMostCounted) return {.parts = 0};
  const bool is_small = bytes <= kSmallBytes;
  const std::int64_t threads = is_small ? kSmallThreads : kThreads;
  // Four times as many groups as k, as far as there are threads: of a random row an eighth more than k elements are kept, and few maxima are to be counted.
  const std::int64_t groups = clamped(4 * power_of_two(args.k), 32, threads);
  // What all parts keep must fit where one of them lay.
  const int kept = kept_slots(args.k);
  if (parts * kept * static_cast<std::int64_t>(rank_bytes(args)) > kPartOfRow) return {.parts = 0};
  // Room for those of sorted rows, where some elements side by side have one thread.
  const std::int64_t room = larger(groups, 8 * power_of_two(args.k));
  const std::int64_t most = most_of(args.k);
  const std::int64_t ranks = room + kBestRanks;
  const std::int64_t vectors = threads * (is_small ? kSmallVectors : kPartVectors);
  const std::int64_t shared =
      vectors * kVectorBytes + ranks * static_cast<std::int64_t>(rank_bytes(args)) + kStaticShared;
  if (shared > static_cast<std::int64_t>(device.shared_memory_per_block)) return {.parts = 0};
  return {.is_small = is_small,
          .parts = static_cast<int>(parts),
          .groups = static_cast<int>(groups),
          .room = static_cast<int>(room),
          .kept = kept,
          .most = static_cast<int>(most),
          .ranks = static_cast<int>(ranks)};
}

}  // namespace rooftile::topk_plan
