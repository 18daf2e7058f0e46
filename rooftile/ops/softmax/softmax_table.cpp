#include "rooftile/ops/softmax/softmax_table.h"

#include "rooftile/ops/softmax/rungs.h"
#include "rooftile/ops/softmax/softmax_plan.h"

namespace rooftile {
namespace {

using namespace softmax_plan;

std::string_view supports_warm(const SoftmaxArgs& args, const DeviceProperties&) {
  return args.temperature == 0 ? "temperature 0 has no exponentials: see one_hot" : "";
}
std::string_view supports_cold(const SoftmaxArgs& args, const DeviceProperties&) {
  return args.temperature == 0 ? "" : "serves temperature 0 alone";
}

std::string_view supports_thread_rows(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (geometry(args).length > kLongestThreadRow)
    return "serves rows up to 16384 elements, whose sums are exact enough: see online_block";
  return supports_warm(args, device);
}
std::string_view supports_warp_rows(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (geometry(args).length > kLongestWarpRow)
    return "serves rows up to 524288 elements, whose sums are exact enough: see online_block";
  return supports_warm(args, device);
}
std::string_view supports_registers(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (element_shape(geometry(args).length) < 0)
    return "registers have room for rows of 16384 elements: see online_block";
  return supports_warm(args, device);
}

// Aligned vectors of x and y, and nothing beside them.
std::string_view supports_vectors(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (!is_absent(args.bias) || !is_absent(args.mask))
    return "neither bias nor mask: see registers, online_block";
  if (!has_vectors(args, geometry(args)))
    return "needs rows without gaps that lie to 16 bytes alike in x and y: see registers, online_block";
  return supports_warm(args, device);
}
std::string_view supports_vectorized(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (shape_for(kRowShapes, covering_vectors(args, geometry(args))) < 0)
    return "registers have room for rows of 64 KiB: see shared_row, online_block";
  return supports_vectors(args, device);
}
std::int64_t row_bytes(const SoftmaxArgs& args) {
  return geometry(args).length * static_cast<std::int64_t>(size_of(args.x.dtype));
}
bool is_short_for_cluster(const SoftmaxArgs& args) { return row_bytes(args) < kShortestClusterRow; }
std::string_view supports_ring(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (ring_plan(args, geometry(args), device, 1).stages == 0)
    return "a row does not fit into a block's shared memory: see cluster";
  if (is_short_for_cluster(args)) return "serves rows from 1 KiB on: see vectorized";
  return supports_vectors(args, device);
}
std::string_view supports_cluster(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (cluster_cut(args, geometry(args), device).blocks == 0)
    return "a row does not fit into a cluster's registers: see cluster_ring, online_block";
  if (is_short_for_cluster(args)) return "serves rows from 1 KiB on: see vectorized";
  return supports_vectors(args, device);
}
std::string_view supports_cluster_ring(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (ring_blocks(args, geometry(args), device) == 0)
    return "a row does not fit into a cluster's shared memory: see online_block";
  if (is_short_for_cluster(args)) return "serves rows from 1 KiB on: see vectorized";
  return supports_vectors(args, device);
}
std::string_view supports_split(const SoftmaxArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  if (const std::string_view why = supports_vectors(args, device); !why.empty()) return why;
  if (rows.inner != rows.count) return "needs rows at one stride: see cluster";
  if (row_bytes(args) < kShortestSplitRow) return "serves rows from 4 KiB on: see vectorized";
  return split_cut(args, rows, device).shape < 0 ? "registers have no room for a row: see grid, online_block"
                                                 : "";
}
std::string_view supports_grid(const SoftmaxArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  if (const std::string_view why = supports_vectors(args, device); !why.empty()) return why;
  if (!is_whole(args, rows))
    return "needs rows of whole vectors at multiples of 16 bytes, at one stride: see cluster";
  if (row_bytes(args) < kShortestGridRow) return "serves rows from 4 KiB on: see vectorized";
  if (rows.count > kMostGridRows) return "serves up to 4096 rows: see cluster";
  return grid_cut(args, rows, device).shape < 0
             ? "a multiprocessor's registers have no room for its part of a row: see online_block"
             : "";
}

RungPlan plan_rows(const SoftmaxArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(Cut{.rows = geometry(args)})};
}
RungPlan plan_parts(const SoftmaxArgs& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  const std::int64_t parts = ceil_div(rows.length, kCpuPart);
  if (parts <= 1) return {};
  return {.workspace = {.bytes = static_cast<std::size_t>(rows.count * parts * kCpuStatsBytes)}};
}
RungPlan plan_registers(const SoftmaxArgs& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  return {.config = PlanConfig::of(Cut{.rows = rows, .shape = element_shape(rows.length)})};
}
RungPlan plan_vectorized(const SoftmaxArgs& args, const DeviceProperties&) {
  const Rows<kTensors> rows = geometry(args);
  return {.config = PlanConfig::of(Cut{.rows = rows,
                                       .is_whole = is_whole(args, rows),
                                       .passing = passing_window(rows.count, row_bytes(args)),
                                       .shape = shape_for(kRowShapes, covering_vectors(args, rows))})};
}
RungPlan plan_ring(const SoftmaxArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  return {.config = PlanConfig::of(Cut{.rows = rows, .ring = ring_plan(args, rows, device, 1)})};
}
RungPlan plan_cluster(const SoftmaxArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const ClusterCut cut = cluster_cut(args, rows, device);
  return {.config = PlanConfig::of(Cut{.rows = rows,
                                       .is_whole = is_whole(args, rows),
                                       .shape = cut.shape,
                                       .blocks = cut.blocks,
                                       .part = cut.part,
                                       .is_load_first = is_load_first(cut, rows, device)})};
}
RungPlan plan_cluster_ring(const SoftmaxArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  return {.config = PlanConfig::of(
              Cut{.rows = rows, .ring = ring_plan(args, rows, device, ring_blocks(args, rows, device))})};
}
RungPlan plan_split(const SoftmaxArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const SplitCut split = split_cut(args, rows, device);
  const std::int64_t at_once = smaller(rows.count, std::int64_t{split.groups} * kMostRowsOfSplit);
  return {.workspace = {.zeroed_bytes = grid_meeting_bytes(at_once, kTakes, split.blocks)},
          .config = PlanConfig::of(Cut{.rows = rows, .is_whole = is_whole(args, rows), .split = split})};
}
RungPlan plan_grid(const SoftmaxArgs& args, const DeviceProperties& device) {
  const Rows<kTensors> rows = geometry(args);
  const GridCut grid = grid_cut(args, rows, device);
  return {.workspace = {.zeroed_bytes = grid_meeting_bytes(rows.count, kTakes, grid.blocks)},
          .config = PlanConfig::of(Cut{.rows = rows, .grid = grid})};
}

}  // namespace

std::vector<Rung<SoftmaxArgs>> softmax_rung_table() {
  return {
      {.rung = softmax_rungs::serial,
       .idea = "Three loops over a row: the definition.",
       .change = "the start of the CPU climb; in double"},
      {.rung = softmax_rungs::threaded,
       .idea = "A part of the rows for every core, its loops vectors; long rows by parts.",
       .change = "all cores; exponentials by a polynomial that the compiler makes vectors of",
       .supports = supports_warm,
       .plan = plan_parts},
      {.rung = softmax_rungs::three_pass,
       .idea = "A thread walks along a row three times: maximum, sum, results.",
       .change = "the start of the GPU climb; bias, mask and any strides",
       .supports = supports_thread_rows,
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 31, 32}}},
      {.rung = softmax_rungs::online,
       .idea = "The sum stands for the maximum so far, and is scaled whenever that grows.",
       .change = "two walks in place of three",
       .source = "Milakov and Gimelshein, Online normalizer calculation for softmax (2018)",
       .supports = supports_thread_rows,
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 31, 32}}},
      {.rung = softmax_rungs::online_warp,
       .idea = "The lanes of a warp stand side by side in a row, and meet in a butterfly.",
       .change = "a warp's loads lie side by side",
       .supports = supports_warp_rows,
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = softmax_rungs::online_block,
       .idea = "A block's threads stand side by side in a row, four elements on their way for each.",
       .change = "16 warps to a row; it serves rows of any length",
       .supports = supports_warm,
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = softmax_rungs::registers,
       .idea = "A row's elements stay in registers between the sum and the results.",
       .change = "the row is read once",
       .supports = supports_registers,
       .plan = plan_registers,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}, {"bytes_moved_over_needed", 1, 1.05}}},
      {.rung = softmax_rungs::vectorized,
       .idea = "As many threads to a row as it has aligned vectors of 16 bytes.",
       .change = "16 bytes for each load and store, lanes by the row's length",
       .supports = supports_vectorized,
       .plan = plan_vectorized,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, 1.05}}},
      {.rung = softmax_rungs::shared_row,
       .idea = "Rows pass through a ring in shared memory: the next ones come while one is computed.",
       .change = "bulk copies keep a multiprocessor's share of DRAM busy, whatever its threads do",
       .supports = supports_ring,
       .plan = plan_ring,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = softmax_rungs::cluster,
       .idea =
           "The blocks of a cluster have a part of the row in registers; each warp's sum goes to all of them.",
       .change = "long rows in small blocks: others load and store while one waits for its sum",
       .supports = supports_cluster,
       .plan = plan_cluster,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, 1.05}}},
      {.rung = softmax_rungs::cluster_ring,
       .idea = "The blocks of a cluster have a part of each row in their rings.",
       .change = "a row of up to 16 multiprocessors' shared memory is read once",
       .supports = supports_cluster_ring,
       .plan = plan_cluster_ring,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = softmax_rungs::grid,
       .idea = "Every multiprocessor has a part of every row; the parts' sums meet in global memory.",
       .change = "a few long rows have all multiprocessors; one row is stored while others still come",
       .source = "CUDA Programming Guide, Grid Synchronization",
       .supports = supports_grid,
       .plan = plan_grid,
       // Of rows of 4 KiB; with the words that are asked for until they are there.
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, 2}}},
      {.rung = softmax_rungs::split_row,
       .idea = "Each of a few rows has some blocks of its own; their parts' sums meet in global memory.",
       .change = "all rows are asked for at once, and a row waits for its own blocks alone",
       .source = "NVIDIA Apex, contrib/csrc/layer_norm (CTAS_PER_ROW)",
       .supports = supports_split,
       .plan = plan_split,
       // What is moved depends on how often the words are asked for.
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = softmax_rungs::one_hot,
       .idea = "The first of the largest elements gets 1.",
       .change = "temperature 0, which exponentials do not reach",
       .supports = supports_cold,
       .plan = plan_rows,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
  };
}

namespace {

// Whether few rows are worth some blocks each, where these have room for all at once. On an H200, of the time of what is best besides: from
// 512 KiB on 0.63 to 1.05 (6 rows of 512 KiB 1.08), of 64 to 256 KiB 0.90 to 1.04 up to 8 rows, and up to 1.18 of more.
constexpr bool is_for_split(std::int64_t rows, std::int64_t bytes) {
  constexpr std::int64_t kSplitRow = 1 << 19;
  constexpr std::int64_t kSplitRowOfFew = 1 << 15;  // longer
  constexpr std::int64_t kFew = 8;
  return bytes >= kSplitRow || (bytes > kSplitRowOfFew && rows <= kFew);
}
// Whether rows that one block has room for are worth a cluster each: 0.82 to 0.98 of vectorized's time up to 200 of 40 to 64 KiB.
constexpr bool is_for_cluster(std::int64_t rows, std::int64_t bytes) {
  constexpr std::int64_t kClusterRow = 1 << 15;  // longer
  constexpr std::int64_t kFew = 200;
  return bytes > kClusterRow && rows <= kFew;
}

}  // namespace

// Registers: of few long rows those of some blocks each; as far as a block's reach, or a cluster's; of few long ones those of all
// multiprocessors. Longer ones have some blocks each, in as many rounds as it takes, if these have room for one: on an H200 up to 66 rows of
// 1.5 to 6 MiB took 0.58 to 1.0 of the time of a cluster's ring or of grid (12 of 1.5 MiB 1.18).
std::string_view softmax_choose(const SoftmaxArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return args.temperature == 0 ? "serial" : "threaded";
  if (args.temperature == 0) return "one_hot";
  if (!supports_vectors(args, device).empty())
    return supports_registers(args, device).empty() ? "registers" : "online_block";
  const Rows<kTensors> rows = geometry(args);
  const std::int64_t bytes = row_bytes(args);
  const bool has_split = supports_split(args, device).empty();
  const bool is_sm90 = device.compute_capability == 90;
  const bool has_cluster = is_sm90 && supports_cluster(args, device).empty();
  if (has_split && is_for_split(rows.count, bytes) && split_cut(args, rows, device).rounds == 1)
    return "split_row";
  if (supports_vectorized(args, device).empty())
    return has_cluster && is_for_cluster(rows.count, bytes) ? "cluster" : "vectorized";
  const bool has_grid = is_sm90 && supports_grid(args, device).empty();
  if (has_cluster) return has_grid && is_for_grid(rows.count, bytes) ? "grid" : "cluster";
  if (has_split) return "split_row";
  if (is_sm90 && supports_cluster_ring(args, device).empty()) return "cluster_ring";
  return has_grid ? "grid" : "online_block";
}

}  // namespace rooftile
