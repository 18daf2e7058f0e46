// How the rungs of layer_norm and rms_norm cut a call: rows, and who has which part of one. Args: LayerNormArgs or RmsNormArgs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/row_cut.h"
#include "rooftile/core/rows.h"
#include "rooftile/core/rung.h"
#include "rooftile/core/status.h"

namespace rooftile::norm_plan {

// Places of the tensors in Rows.
inline constexpr std::size_t kX = 0;
inline constexpr std::size_t kResidual = 1;
inline constexpr std::size_t kY = 2;
inline constexpr std::size_t kTensors = 3;

inline constexpr int kLessonBlock = 128;
inline constexpr int kWarpRowsBlock = 256;
inline constexpr int kBlockRowThreads = 512;

// threaded: elements of a long row that are a task, and bytes of what is known of each.
inline constexpr std::int64_t kCpuPart = 65536;
inline constexpr std::int64_t kCpuStatsBytes = 24;

// Longer chains of f32 sums are not exact enough.
inline constexpr std::int64_t kLongestThreadRow = 16384;

// warp_row: elements of a row that a lane has.
inline constexpr int kOwnElements = 32;

inline constexpr std::array<RowShape, 15> kRowShapes = {{{1, 1},
                                                         {2, 1},
                                                         {4, 1},
                                                         {8, 1},
                                                         {16, 1},
                                                         {32, 1},
                                                         {32, 2},
                                                         {32, 3},
                                                         {32, 4},
                                                         {64, 3},
                                                         {64, 4},
                                                         {64, 8},
                                                         {128, 8},
                                                         {256, 8},
                                                         {512, 8}}};
// Whole rows without a residual of what a warp would have 3 or 4 vectors a lane of: 16 lanes have as many rows on their way in half of
// the warps, and take one step less for each of its sums. layer_norm of bf16 8192 x 768 0.904 of the bound, 0.810 by a warp.
inline constexpr std::array<RowShape, 3> kHalfWarpShapes = {{{16, 5}, {16, 6}, {16, 8}}};
inline constexpr std::int64_t kLongestLaneRow = 64;  // vectors of rows of 1 and 2 a lane
inline constexpr int kVectorizedBlock = 128;         // threads, where rows have a warp at most

// cluster: threads of a block, and vectors that each has. Rows have a vector for every block, wherever they begin.
inline constexpr std::array<RowShape, 2> kClusterShapes = {{{256, 8}, {512, 8}}};
inline constexpr std::int64_t kShortestClusterRow = 1024;  // bytes

// grid: threads of a block, which so many have a part of a row together, and vectors that each has.
inline constexpr int kGridThreads = 512;
inline constexpr std::array<RowShape, 6> kGridShapes = {
    {{32, 8}, {32, 16}, {64, 8}, {128, 8}, {256, 8}, {512, 8}}};
inline constexpr std::int64_t kMostGridBlocks = 192;  // six words for each of a warp's lanes
inline constexpr std::int64_t kMostGridRows = 4096;
inline constexpr std::int64_t kShortestGridRow = 4096;  // bytes
inline constexpr int kTakes = 2;                 // by the first statistics, by those of scaled elements
inline constexpr std::int64_t kPartVectors = 8;  // parts are of whole lines
// Chosen from such rows on, for as many as there are so many bytes in one: on an H200 32 x 131072 f32 took 0.87 to 0.94 of cluster's time, 64 x
// 131072 0.97, 64 x 262144 0.85.
inline constexpr std::int64_t kGridRow = 1 << 19;
inline constexpr std::int64_t kGridRowShare = 1 << 14;

struct GridCut {
  int shape = -1;  // -1: none has room
  int blocks = 0;
  int part = 0;  // vectors of each block
  int shared_bytes = 0;
};

struct Cut {
  Rows<kTensors> rows{};
  bool is_whole = false;  // rows, weight and bias are of whole vectors at multiples of 16 bytes
  int shape = 0;          // vectorized: which of kRowShapes, then kHalfWarpShapes; cluster: of kClusterShapes
  ClusterCut cluster{};
  GridCut grid{};
};

template <class Args>
Rows<kTensors> geometry(const Args& args) {
  return rows_of<kTensors>({args.x, args.residual, args.y});
}

template <class Args>
std::int64_t row_bytes(const Args& args) {
  return args.x.shape[args.x.rank() - 1] * static_cast<std::int64_t>(size_of(args.x.dtype));
}

template <class Args>
std::int64_t vectors_of(const Args& args, const Rows<kTensors>& rows) {
  return covering_vectors(args.x, rows.tensors[kX], rows.length);
}
template <class Args>
ClusterCut cluster_of(const Args& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  return cluster_for(kClusterShapes, rows.count, vectors_of(args, rows), device);
}

// What slots and parameters do not say.
template <class Args>
Status check(const Args& args) {
  const std::int64_t n = args.x.shape[args.x.rank() - 1];
  const auto has_length = [n](const ConstTensorView& view) { return is_absent(view) || view.shape[0] == n; };
  if (!has_length(args.weight)) return invalid_argument("weight must have an element for each column of x");
  if constexpr (requires { args.bias; }) {
    if (!has_length(args.bias)) return invalid_argument("bias must have an element for each column of x");
  }
  if (!geometry(args).fits) {
    return unsupported(
        "the axes in front of the rows lie at more than two strides: call it for a part of the tensor at a time, or for a "
        "copy without gaps");
  }
  return {};
}

// What the rungs serve; empty: the call.
template <class Args>
std::string_view supports_thread_rows(const Args& args, const DeviceProperties&) {
  return geometry(args).length > kLongestThreadRow
             ? "serves rows up to 16384 elements, whose sums are exact enough: see block_row"
             : "";
}
template <class Args>
std::string_view supports_warp_rows(const Args& args, const DeviceProperties&) {
  return geometry(args).length > std::int64_t{kOwnElements} * 32
             ? "a warp's registers have room for rows of 1024 elements: see block_row"
             : "";
}
template <class Args>
std::string_view supports_vectors(const Args& args) {
  const Rows<kTensors> rows = geometry(args);
  const bool alike = lie_alike(args.x, rows.tensors[kX], args.y, rows.tensors[kY]) &&
                     (is_absent(args.residual) ||
                      lie_alike(args.x, rows.tensors[kX], args.residual, rows.tensors[kResidual]));
  return alike ? ""
               : "needs rows without gaps that lie to 16 bytes alike in x, y and residual: see block_row";
}
template <class Args>
std::string_view supports_vectorized(const Args& args, const DeviceProperties&) {
  if (shape_for(kRowShapes, vectors_of(args, geometry(args))) < 0)
    return "registers have room for rows of 64 KiB: see cluster, block_row";
  return supports_vectors(args);
}
template <class Args>
std::string_view supports_cluster(const Args& args, const DeviceProperties& device) {
  if (cluster_of(args, geometry(args), device).blocks == 0)
    return "a row does not fit into a cluster's registers: see block_row";
  if (row_bytes(args) < kShortestClusterRow) return "serves rows from 1 KiB on: see vectorized";
  return supports_vectors(args);
}

template <class Args>
bool is_whole(const Args& args, const Rows<kTensors>& rows) {
  const auto begins = [](const ConstTensorView& view) {
    return is_absent(view) || reinterpret_cast<std::uintptr_t>(view.data) % kRowVectorBytes == 0;
  };
  const auto size = static_cast<std::int64_t>(size_of(args.x.dtype));
  const auto all_begin = [&](const ConstTensorView& view, std::size_t tensor) {
    const RowPitch& place = rows.tensors[tensor];
    return is_absent(view) || (begins(view) && place.step == 1 && place.pitch * size % kRowVectorBytes == 0 &&
                               place.outer_pitch * size % kRowVectorBytes == 0);
  };
  if constexpr (requires { args.bias; }) {
    if (!begins(args.bias)) return false;
  }
  return rows.length * size % kRowVectorBytes == 0 && all_begin(args.x, kX) &&
         all_begin(args.residual, kResidual) && all_begin(args.y, kY) && begins(args.weight);
}

// Rows of so many vectors, cut over all multiprocessors. Of few rows each has several warps of a block.
inline GridCut grid_for(std::int64_t rows, std::int64_t vectors, const DeviceProperties& device) {
  const std::int64_t most = smaller(device.multiprocessors, kMostGridBlocks);
  const std::int64_t part = ceil_div(ceil_div(vectors, most), kPartVectors) * kPartVectors;
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
          .shared_bytes = static_cast<int>((at_once + 2) * part_bytes)};
}
template <class Args>
GridCut grid_of(const Args& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  return grid_for(rows.count, vectors_of(args, rows), device);
}
template <class Args>
std::string_view supports_grid(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  if (!is_absent(args.residual)) return "has no registers for a residual: see cluster";
  if (supports_vectors(args) != "" || !is_whole(args, rows) || rows.inner != rows.count)
    return "needs rows, weight and bias of whole vectors at multiples of 16 bytes, rows at one stride: see cluster";
  if (row_bytes(args) < kShortestGridRow) return "serves rows from 4 KiB on: see vectorized";
  if (rows.count > kMostGridRows) return "serves up to 4096 rows: see cluster";
  return grid_of(args, rows, device).shape < 0
             ? "a multiprocessor's registers have no room for its part of a row: see block_row"
             : "";
}

template <class Args>
RungPlan plan_rows(const Args& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(Cut{.rows = geometry(args)})};
}
template <class Args>
RungPlan plan_parts(const Args& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  const std::int64_t parts = ceil_div(rows.length, kCpuPart);
  if (parts <= 1) return {};
  return {.workspace = {.bytes = static_cast<std::size_t>(rows.count * parts * kCpuStatsBytes)}};
}
template <class Args>
int row_shape(const Args& args, const Rows<kTensors>& rows, bool whole) {
  const std::int64_t vectors = vectors_of(args, rows);
  if (whole && is_absent(args.residual) && vectors > kLongestLaneRow) {
    const int half = shape_for(kHalfWarpShapes, vectors);
    if (half >= 0) return static_cast<int>(kRowShapes.size()) + half;
  }
  return shape_for(kRowShapes, vectors);
}
template <class Args>
RungPlan plan_vectorized(const Args& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  const bool whole = is_whole(args, rows);
  return {.config =
              PlanConfig::of(Cut{.rows = rows, .is_whole = whole, .shape = row_shape(args, rows, whole)})};
}
template <class Args>
RungPlan plan_cluster(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const ClusterCut cut = cluster_of(args, rows, device);
  return {.config = PlanConfig::of(
              Cut{.rows = rows, .is_whole = is_whole(args, rows), .shape = cut.shape, .cluster = cut})};
}

// Words of 8 bytes that parts meet in.
inline std::int64_t grid_words(const Cut& cut) {
  return cut.rows.count * kTakes * ceil_div(cut.grid.blocks, 2) * 2;
}
template <class Args>
RungPlan plan_grid(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const GridCut grid = grid_of(args, rows, device);
  const Cut cut{.rows = rows, .is_whole = true, .shape = grid.shape, .grid = grid};
  return {.workspace = {.zeroed_bytes = static_cast<std::size_t>(grid_words(cut) * 8 + rows.count * 4)},
          .config = PlanConfig::of(cut)};
}

// Whether a row each is worth the whole grid: of many or of shorter ones clusters have as much to do, and wait for less.
template <class Args>
bool is_for_grid(const Args& args, const DeviceProperties& device) {
  const std::int64_t bytes = row_bytes(args);
  const bool is_few = bytes >= kGridRow && geometry(args).count <= bytes / kGridRowShare;
  return is_few || !supports_cluster(args, device).empty();
}

// Registers: as far as a block's reach; of few long rows those of all multiprocessors; those of a cluster.
template <class Args>
std::string_view choose(const Args& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (supports_vectorized(args, device).empty()) return "vectorized";
  if (device.compute_capability == 90) {
    if (supports_grid(args, device).empty() && is_for_grid(args, device)) return "grid";
    if (supports_cluster(args, device).empty()) return "cluster";
  }
  return supports_warp_rows(args, device).empty() ? "warp_row" : "block_row";
}

}  // namespace rooftile::norm_plan
