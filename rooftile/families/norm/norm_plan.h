// How the rungs of layer_norm and rms_norm cut a call: rows, and who has which part of one. Args: LayerNormArgs or RmsNormArgs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "rooftile/core/device.h"
#include "rooftile/core/grid_cut.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/row_cut.h"
#include "rooftile/core/rows.h"
#include "rooftile/core/rung.h"
#include "rooftile/core/status.h"
#include "rooftile/device/split_row_cut.h"

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

inline constexpr int kWarpThreads = 32;

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
// Of whole rows without a residual alone. Half a warp, where a warp would have 3 or 4 vectors a lane: 16 lanes have as many rows on their
// way in half of the warps, and take one step less for each of its sums. layer_norm of bf16 8192 x 768 0.904 of the bound, 0.810 by a warp.
// Rows that fill their threads, 4 vectors each: twice as many threads as of 8, and half of what one does in turn; of others some would
// have nothing to do. layer_norm of bf16 16384 x 4096 0.951 of a copy, 0.906 by 64 threads.
inline constexpr std::array<RowShape, 5> kWholeShapes = {{{16, 5}, {16, 6}, {16, 8}, {128, 4}, {256, 4}}};
inline constexpr std::int64_t kLongestLaneRow = 64;  // vectors of rows of 1 and 2 a lane
inline constexpr int kVectorizedBlock = 128;         // threads, where rows have a warp at most

// cluster: threads of a block, and vectors that each has. Rows have a vector for every block, wherever they begin.
inline constexpr std::array<RowShape, 2> kClusterShapes = {{{256, 8}, {512, 8}}};
inline constexpr std::int64_t kShortestClusterRow = 1024;  // bytes

// cluster, many whole rows without a residual: clusters that stay, a block to a multiprocessor, of groups of threads with rows of their own,
// which share weight and bias. Four groups have too few registers, and took 4 % longer.
inline constexpr int kStayingShape = 0;
inline constexpr int kStayingGroups = 3;
inline constexpr std::int64_t kManyRows = 4;  // for each group

// grid and split_row: how often a row may meet, by the first statistics, by those of scaled elements, and (split_row) by those of
// differences from the mean; weight and bias stand beside the rows.
inline constexpr int kTakes = 3;
inline constexpr int kBesideParts = 2;

// split_row. Two rows to a block read weight and bias once; of short parts there is nothing to gain by that.
inline constexpr std::array<SplitShape, 5> kSplitShapes = {
    {{2, 1, 1}, {4, 2, 2}, {4, 1, 2}, {8, 2, 2}, {8, 1, 2}}};

struct Cut {
  Rows<kTensors> rows{};
  bool is_whole = false;  // rows, weight and bias are of whole vectors at multiples of 16 bytes
  // vectorized, whole rows without a residual, and clusters that stay: as passing_window() says
  std::int64_t passing = 0;
  int shape = 0;  // vectorized: which of kRowShapes, then kWholeShapes; cluster: of kClusterShapes
  ClusterCut cluster{};
  int staying_clusters = 0;  // cluster: 0: they have a row each
  GridCut grid{};
  SplitCut split{};
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
  return geometry(args).length > std::int64_t{kOwnElements} * kWarpThreads
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

template <class Args>
GridCut grid_of(const Args& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  return grid_for(rows.count, vectors_of(args, rows), kBesideParts, device);
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
SplitCut split_of(const Args& args, const Rows<kTensors>& rows, const DeviceProperties& device) {
  return split_for(kSplitShapes, rows.count, vectors_of(args, rows), is_whole(args, rows) ? kBesideParts : 0,
                   device);
}
template <class Args>
std::string_view supports_split(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  if (!is_absent(args.residual)) return "has no registers for a residual: see cluster";
  if (const std::string_view why = supports_vectors(args); !why.empty()) return why;
  if (rows.inner != rows.count) return "needs rows at one stride: see cluster";
  if (row_bytes(args) < kShortestSplitRow) return "serves rows from 4 KiB on: see vectorized";
  return split_of(args, rows, device).shape < 0 ? "blocks have no room for a row: see grid, block_row" : "";
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
// Which of kWholeShapes; -1: none.
inline int whole_shape(std::int64_t vectors) {
  const auto* found = std::find_if(kWholeShapes.begin(), kWholeShapes.end(), [&](const RowShape& shape) {
    return shape.threads < kWarpThreads ? vectors > kLongestLaneRow && vectors <= shape.capacity()
                                        : vectors == shape.capacity();
  });
  return found == kWholeShapes.end() ? -1 : static_cast<int>(found - kWholeShapes.begin());
}
template <class Args>
int row_shape(const Args& args, const Rows<kTensors>& rows, bool whole) {
  const std::int64_t vectors = vectors_of(args, rows);
  if (whole && is_absent(args.residual)) {
    const int shape = whole_shape(vectors);
    if (shape >= 0) return static_cast<int>(kRowShapes.size()) + shape;
  }
  return shape_for(kRowShapes, vectors);
}
template <class Args>
RungPlan plan_vectorized(const Args& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  const bool whole = is_whole(args, rows);
  return {.config = PlanConfig::of(Cut{.rows = rows,
                                       .is_whole = whole,
                                       .passing = passing_window(rows.count, row_bytes(args)),
                                       .shape = row_shape(args, rows, whole)})};
}
// Clusters lie within 16 or 18 neighbouring multiprocessors: of an H100's 132 those of 8 and 16 blocks fill 120.
template <class Args>
int staying_clusters(const Args& args, const Cut& cut, const DeviceProperties& device) {
  if (!cut.is_whole || !is_absent(args.residual) || cut.cluster.shape != kStayingShape ||
      cut.cluster.blocks == 0)
    return 0;
  const int clusters = device.multiprocessors * 10 / 11 / cut.cluster.blocks;
  const bool is_many = cut.rows.count >= kManyRows * kStayingGroups * clusters &&
                       cut.rows.count <= std::numeric_limits<std::int32_t>::max();
  return is_many ? clusters : 0;
}
template <class Args>
RungPlan plan_cluster(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const ClusterCut cluster = cluster_of(args, rows, device);
  Cut cut{.rows = rows, .is_whole = is_whole(args, rows), .shape = cluster.shape, .cluster = cluster};
  cut.staying_clusters = staying_clusters(args, cut, device);
  cut.passing = passing_window(rows.count, row_bytes(args));
  return {.workspace = {.zeroed_bytes = cut.staying_clusters > 0 ? sizeof(std::uint32_t) : 0},
          .config = PlanConfig::of(cut)};
}

template <class Args>
RungPlan plan_grid(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const GridCut grid = grid_of(args, rows, device);
  return {.workspace = {.zeroed_bytes = grid_meeting_bytes(rows.count, kTakes, grid.blocks)},
          .config = PlanConfig::of(Cut{.rows = rows, .is_whole = true, .grid = grid})};
}

template <class Args>
RungPlan plan_split(const Args& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const SplitCut split = split_of(args, rows, device);
  const std::int64_t at_once = smaller(rows.count, std::int64_t{split.groups} * kMostRowsOfSplit);
  return {.workspace = {.zeroed_bytes = grid_meeting_bytes(at_once, kTakes, split.blocks)},
          .config = PlanConfig::of(Cut{.rows = rows, .is_whole = is_whole(args, rows), .split = split})};
}

// Whether few rows are worth some blocks each, where these have room for all at once. On an H200, of the time of what is best besides: from
// 64 KiB on 0.6 to 1.05, from 32 KiB on up to 160 rows 0.87 to 1.05 (200 and 264 of 40 KiB 1.06 to 1.14), of 8 KiB and more up to 16 rows
// 0.87 to 1.06.
constexpr bool is_for_split(std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t kKiB = 1024;
  const std::int64_t most = row_bytes >= 64 * kKiB ? rows : row_bytes >= 32 * kKiB ? 160 : 16;
  return row_bytes >= 8 * kKiB && rows <= most;
}
// Whether rows that one block has room for are worth a cluster each: from 8 to 32 KiB, 17 to 264 of them, 0.80 to 0.98 of vectorized's time.
constexpr bool is_for_cluster(std::int64_t rows, std::int64_t row_bytes) {
  constexpr std::int64_t kKiB = 1024;
  constexpr std::int64_t kFew = 264;
  return row_bytes >= 8 * kKiB && row_bytes <= 32 * kKiB && rows <= kFew;
}
// Registers: of few rows those of some blocks each; as far as a block's reach, or a cluster's; of few long rows those of all
// multiprocessors. Longer ones have some blocks each, in as many rounds as it takes, if these have room for one: on an H200 up to 66 rows of
// 1.5 to 4 MiB took 0.78 to 1.0 of grid's time (12 of 1.5 and 2 MiB 1.08 to 1.15), and 16 of 2 MiB that begin anywhere a 50th of block_row's.
template <class Args>
std::string_view choose(const Args& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  const Rows<kTensors> rows = geometry(args);
  const std::int64_t bytes = row_bytes(args);
  const bool has_split = supports_split(args, device).empty();
  const bool has_cluster = device.compute_capability == 90 && supports_cluster(args, device).empty();
  if (has_split && is_for_split(rows.count, bytes) && split_of(args, rows, device).rounds == 1)
    return "split_row";
  if (has_cluster && is_absent(args.residual) && is_for_cluster(rows.count, bytes)) return "cluster";
  if (supports_vectorized(args, device).empty()) return "vectorized";
  const bool has_grid = device.compute_capability == 90 && supports_grid(args, device).empty();
  if (has_cluster) return has_grid && is_for_grid(rows.count, bytes) ? "grid" : "cluster";
  if (has_split) return "split_row";
  if (has_grid) return "grid";
  return supports_warp_rows(args, device).empty() ? "warp_row" : "block_row";
}

}  // namespace rooftile::norm_plan
