// How rows are split over blocks (device/split_row.h): every row has some of its own; as many rows as have room at once are a launch.
// Host code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "rooftile/core/device.h"
#include "rooftile/core/grid_cut.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/row_cut.h"

namespace rooftile {

inline constexpr int kSplitThreads = 512;                // of a block
inline constexpr int kSplitResident = 2;                 // blocks that a multiprocessor has registers for
inline constexpr std::int64_t kMostSplitBlocks = 128;    // of a row: four words for each of a warp's lanes
inline constexpr std::int64_t kShortestSplitRow = 4096;  // bytes
inline constexpr std::int64_t kSplitPartVectors = 8;     // parts are of whole lines
inline constexpr int kMostRowsOfSplit = 2;               // that a block has, of any shape
inline constexpr int kSplitOwnShared = 1024;             // bytes in front of a block's parts
inline constexpr int kSystemShared = 1024;  // bytes of each block, beside those that it may ask for

// What a block does: `rows` rows at a time, by an equal share of its threads each, `vectors` of a row to a thread. It is for calls of which
// a multiprocessor gets `resident` blocks at most.
struct SplitShape {
  int vectors = 0;
  int rows = 0;
  int resident = 0;
  [[nodiscard]] constexpr int threads() const { return kSplitThreads / rows; }
  [[nodiscard]] constexpr std::int64_t capacity() const { return std::int64_t{threads()} * vectors; }
};

struct SplitCut {
  int shape = -1;  // of the given ones; -1: none has room
  int blocks = 0;  // of a row
  int groups = 0;  // of rows that have the same blocks, in one launch
  int rounds = 0;  // launches
  int part = 0;    // vectors of each block
  int shared_bytes = 0;
};

// One shape's cut; shape -1: it has no room for any row. Shared memory has room for `beside` parts.
inline SplitCut split_by(const SplitShape& shape, std::int64_t rows, std::int64_t vectors, int beside,
                         const DeviceProperties& device) {
  const auto most_shared = static_cast<std::int64_t>(device.shared_memory_per_block) - kSplitOwnShared;
  const std::int64_t groups = ceil_div(rows, shape.rows);
  const auto part_of = [&](std::int64_t blocks) {
    return ceil_div(ceil_div(vectors, blocks), kSplitPartVectors) * kSplitPartVectors;
  };
  std::int64_t blocks = larger(2, ceil_div(vectors, shape.capacity()));
  std::int64_t part = part_of(blocks);
  const std::int64_t shared_bytes = beside * part * kRowVectorBytes;
  // A multiprocessor has what one block may ask for, and the system's part of that block.
  constexpr std::int64_t kBeside = kSplitOwnShared + kSystemShared;
  const int resident = (shared_bytes + kBeside) * kSplitResident > most_shared + kBeside ? 1 : shape.resident;
  const std::int64_t most = std::int64_t{device.multiprocessors} * resident;
  // Where some multiprocessors would have one block more than others, smaller ones for all.
  const std::int64_t fair = smaller(most / groups, kMostSplitBlocks);
  if (blocks * groups > device.multiprocessors && 4 * fair > 5 * blocks) part = part_of(fair);
  blocks = ceil_div(vectors, part);
  if (blocks < 2 || blocks > kMostSplitBlocks || blocks > most || shared_bytes > most_shared) return {};
  const std::int64_t rounds = ceil_div(groups, most / blocks);
  return {.shape = 0,
          .blocks = static_cast<int>(blocks),
          .groups = static_cast<int>(ceil_div(groups, rounds)),
          .rounds = static_cast<int>(smaller(rounds, std::numeric_limits<int>::max())),
          .part = static_cast<int>(part),
          .shared_bytes = static_cast<int>(beside * part * kRowVectorBytes)};
}

// The first of the shapes with room for all of these rows at once; else that with the fewest rounds.
template <std::size_t kShapes>
SplitCut split_for(const std::array<SplitShape, kShapes>& shapes, std::int64_t rows, std::int64_t vectors,
                   int beside, const DeviceProperties& device) {
  SplitCut best;
  for (std::size_t i = 0; i < kShapes; ++i) {
    if (shapes[i].rows > rows) continue;
    SplitCut cut = split_by(shapes[i], rows, vectors, beside, device);
    if (cut.shape < 0 || (best.shape >= 0 && best.rounds <= cut.rounds)) continue;
    cut.shape = static_cast<int>(i);
    if (cut.rounds == 1) return cut;
    best = cut;
  }
  return best;
}

}  // namespace rooftile
