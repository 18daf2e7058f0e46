// How rows are cut over all multiprocessors (device/sm90a/grid_rows.h): each has a block, and each block a part of every row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/row_cut.h"

namespace rooftile {

// Threads of a block, which so many have a part of a row together, and vectors that each has.
inline constexpr int kGridThreads = 512;
inline constexpr std::array<RowShape, 6> kGridShapes = {
    {{32, 8}, {32, 16}, {64, 8}, {128, 8}, {256, 8}, {512, 8}}};
inline constexpr std::int64_t kMostGridBlocks = 192;  // six words for each of a warp's lanes
inline constexpr std::int64_t kMostGridRows = 4096;
inline constexpr std::int64_t kShortestGridRow = 4096;  // bytes
inline constexpr std::int64_t kGridPartVectors = 8;     // parts are of whole lines

struct GridCut {
  int shape = -1;  // of kGridShapes; -1: none has room
  int blocks = 0;
  int part = 0;  // vectors of each block
  int shared_bytes = 0;
};

// Rows of so many vectors. Of few rows each has several warps of a block. Shared memory has room for `beside` parts more than there
// are rows at once.
inline GridCut grid_for(std::int64_t rows, std::int64_t vectors, int beside, const DeviceProperties& device) {
  const std::int64_t most = smaller(device.multiprocessors, kMostGridBlocks);
  const std::int64_t part = ceil_div(ceil_div(vectors, most), kGridPartVectors) * kGridPartVectors;
  int shape = shape_for(kGridShapes, part);
  if (shape < 0) return {};
  const auto threads = [](int of) { return std::int64_t{kGridShapes[static_cast<std::size_t>(of)].threads}; };
  for (int other = shape + 1; other < static_cast<int>(kGridShapes.size()); ++other)
    if (threads(other) > threads(shape) && rows * threads(other) <= kGridThreads) shape = other;
  const std::int64_t at_once = smaller(rows, kGridThreads / threads(shape));
  const std::int64_t part_bytes = part * kRowVectorBytes;
  return {.shape = shape,
          .blocks = static_cast<int>(ceil_div(vectors, part)),
          .part = static_cast<int>(part),
          .shared_bytes = static_cast<int>((at_once + beside) * part_bytes)};
}

// Words of 8 bytes that the parts of one row meet in, at a multiple of 16 bytes.
constexpr std::int64_t grid_words(int takes, std::int64_t blocks) {
  return takes * (ceil_div(blocks, 2) * 2);
}
// Where all rows meet: the words, and a count of readers for each. Zero before the launch.
constexpr std::size_t grid_meeting_bytes(std::int64_t rows, int takes, std::int64_t blocks) {
  return static_cast<std::size_t>(rows * (grid_words(takes, blocks) * 8 + 4));
}

// Whether a row each is worth the whole grid: of many or of shorter ones clusters have as much to do, and wait for less. layer_norm on
// an H200: 32 x 131072 f32 took 0.87 to 0.94 of cluster's time, 64 x 131072 0.97, 64 x 262144 0.85.
constexpr bool is_for_grid(std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t kGridRow = 1 << 19;
  constexpr std::int64_t kGridRowShare = 1 << 14;
  return row_bytes >= kGridRow && rows <= row_bytes / kGridRowShare;
}

}  // namespace rooftile
