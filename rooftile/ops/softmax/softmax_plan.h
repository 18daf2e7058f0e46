// How the rungs of softmax cut a call: rows, and who has which part of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rooftile/core/device.h"
#include "rooftile/core/grid_cut.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/row_cut.h"
#include "rooftile/core/row_ring_plan.h"
#include "rooftile/core/rows.h"
#include "rooftile/device/split_row_cut.h"
#include "rooftile/ops/softmax/softmax.h"

namespace rooftile::softmax_plan {

// Places of the tensors in Rows.
inline constexpr std::size_t kX = 0;
inline constexpr std::size_t kBias = 1;
inline constexpr std::size_t kMask = 2;
inline constexpr std::size_t kY = 3;
inline constexpr std::size_t kTensors = 4;

inline constexpr int kLessonBlock = 128;
inline constexpr int kWarpRowsBlock = 256;
inline constexpr int kBlockRowThreads = 512;

// threaded: elements of a long row that are a task, and bytes of what is known of each.
inline constexpr std::int64_t kCpuPart = 65536;
inline constexpr std::int64_t kCpuStatsBytes = 16;

// Longer chains of f32 sums are not exact enough.
inline constexpr std::int64_t kLongestThreadRow = 16384;
inline constexpr std::int64_t kLongestWarpRow = kLongestThreadRow * 32;

// registers: elements of a row that a thread has, and threads of a row.
inline constexpr int kOwnElements = 16;
inline constexpr std::array<int, 3> kElementThreads = {32, 256, 1024};

// vectorized. Rows of 17 to 256 vectors have one warp. Of 768 and 1024 f32 two warps, which wait for each other at a barrier, took 1.03 and
// 1.04 times as long from cold caches on an H100; of 2048 bf16 1.04 times on an H200.
inline constexpr std::array<RowShape, 15> kRowShapes = {{{1, 1},
                                                         {2, 1},
                                                         {4, 1},
                                                         {8, 1},
                                                         {16, 1},
                                                         {32, 1},
                                                         {32, 2},
                                                         {32, 3},
                                                         {32, 4},
                                                         {32, 6},
                                                         {32, 8},
                                                         {64, 8},
                                                         {128, 8},
                                                         {256, 8},
                                                         {512, 8}}};
// Rows of up to 64 vectors share blocks of 128 threads. Longer ones have a block to themselves: a row that is done makes room at once.
// Of whole vectors these have a kernel of their own, too.
inline constexpr int kSharedBlock = 128;
inline constexpr int kLongestSharedRow = 64;
constexpr bool has_own_block(const RowShape& shape) { return shape.capacity() > kLongestSharedRow; }
constexpr int block_of(const RowShape& shape) { return has_own_block(shape) ? shape.threads : kSharedBlock; }

// vectorized and cluster: threads that a multiprocessor is to have room for, which leaves 64 registers to each. bf16 took 108.
inline constexpr int kResidentThreads = 1024;

// vectorized: exponentials that a thread keeps.
inline constexpr int kMostKept = 32;

// cluster. Small blocks before large ones, but more than 8 of 128 threads gain nothing (README.md, Tried).
inline constexpr std::array<RowShape, 3> kClusterShapes = {{{128, 8}, {256, 8}, {512, 8}}};
inline constexpr std::array<int, 3> kMostBlocksOfShape = {8, kMostClusterBlocks, kMostClusterBlocks};

// shared_row, cluster and cluster_ring: rows have a vector for every block of a cluster, wherever they begin.
inline constexpr std::int64_t kShortestClusterRow = 1024;  // bytes

// shared_row and cluster_ring: warps that read the ring.
inline constexpr int kRingWarps = 16;
inline constexpr int kRingStageBytes = ring_stage_bytes(kRingWarps);

// grid and split_row: a row meets once.
inline constexpr int kTakes = 1;

// split_row: rows have nothing beside them to share. Two to a block have parts of half the length, of which more fit rows that are a
// little longer.
inline constexpr std::array<SplitShape, 4> kSplitShapes = {{{2, 1, 1}, {4, 1, 2}, {8, 1, 2}, {8, 2, 2}}};

struct Cut {
  Rows<kTensors> rows{};
  bool is_whole = false;     // vectorized, shapes with a block of their own, and cluster: as is_whole() says
  std::int64_t passing = 0;  // vectorized, whole rows: as passing_window() says
  // vectorized: which of kRowShapes; cluster: of kClusterShapes; registers: of kElementThreads.
  int shape = 0;
  int blocks = 0;              // cluster: of each row
  int part = 0;                // cluster: vectors of a block
  bool is_load_first = false;  // cluster: a block asks for its part in front of its barriers
  RowRingPlan ring{};
  GridCut grid{};
  SplitCut split{};
};

[[nodiscard]] Rows<kTensors> geometry(const SoftmaxArgs& args);

// Rows of x and y that lie to 16 bytes alike, without gaps between elements.
[[nodiscard]] bool has_vectors(const SoftmaxArgs& args, const Rows<kTensors>& rows);
// Vectors of 16 bytes that cover the longest-lying row.
[[nodiscard]] std::int64_t covering_vectors(const SoftmaxArgs& args, const Rows<kTensors>& rows);
// Rows of x and y of whole vectors at multiples of 16 bytes, at one stride.
[[nodiscard]] bool is_whole(const SoftmaxArgs& args, const Rows<kTensors>& rows);
[[nodiscard]] int element_shape(std::int64_t length);

// A ring of clusters of `blocks` blocks; stages 0: a part does not fit.
[[nodiscard]] RowRingPlan ring_plan(const SoftmaxArgs& args, const Rows<kTensors>& rows,
                                    const DeviceProperties& device, int blocks);
// As many blocks as a row needs; of few rows each gets as many multiprocessors as there are. blocks 0: none has room.
[[nodiscard]] ClusterCut cluster_cut(const SoftmaxArgs& args, const Rows<kTensors>& rows,
                                     const DeviceProperties& device);
// Whether blocks of a cluster ask for their parts in front of their barriers: where others load and store meanwhile. Where all are there
// at once they wait for the cluster's barrier and for memory at the same time; larger blocks gain nothing.
[[nodiscard]] bool is_load_first(const ClusterCut& cut, const Rows<kTensors>& rows,
                                 const DeviceProperties& device);
[[nodiscard]] GridCut grid_cut(const SoftmaxArgs& args, const Rows<kTensors>& rows,
                               const DeviceProperties& device);
[[nodiscard]] SplitCut split_cut(const SoftmaxArgs& args, const Rows<kTensors>& rows,
                                 const DeviceProperties& device);
// Blocks of a cluster whose shared memory has room for a row; 0: none.
[[nodiscard]] int ring_blocks(const SoftmaxArgs& args, const Rows<kTensors>& rows,
                              const DeviceProperties& device);

}  // namespace rooftile::softmax_plan
