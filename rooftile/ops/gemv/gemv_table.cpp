#include "rooftile/ops/gemv/gemv_table.h"

#include <cstdint>

#include "rooftile/ops/gemv/gemv_plan.h"
#include "rooftile/ops/gemv/rungs.h"

namespace rooftile {
namespace {

using gemv_plan::Cut;
using gemv_plan::Geometry;

std::string_view supports_rows(const GemvArgs& args, const DeviceProperties&) {
  return gemv_plan::geometry(args).transposed
             ? "an output for each column of rows in memory: see column_parallel"
             : "";
}

std::string_view supports_vectors(const GemvArgs& args, const DeviceProperties& device) {
  if (gemv_plan::geometry(args).x_step != 1) return "needs x without gaps: see warp_per_row";
  return supports_rows(args, device);
}

// A lane adds up what it has of a row in one chain.
std::string_view supports_whole_rows(const GemvArgs& args, const DeviceProperties& device) {
  constexpr std::int64_t kMostVectors = gemv_plan::kWarp * gemv_plan::kLongestChain;
  if (gemv_plan::vectors_of(gemv_plan::geometry(args).columns, args) > kMostVectors)
    return "serves rows up to 512 KiB, whose sums are exact enough: see split_columns";
  return supports_vectors(args, device);
}

std::string_view supports_whole_blocks(const GemvArgs& args, const DeviceProperties& device) {
  const Geometry g = gemv_plan::geometry(args);
  constexpr std::int64_t kMostVectors = gemv_plan::kOtherRows.threads * gemv_plan::kLongestChain;
  if (g.transposed) return supports_rows(args, device);
  if (!gemv_plan::has_whole_vectors(args) || g.x_step != 1)
    return "needs rows and x at 16 bytes, and of a multiple of them: see vectorized";
  if (gemv_plan::vectors_of(g.columns, args) > kMostVectors)
    return "serves rows up to 2 MiB, whose sums are exact enough: see split_columns";
  if (g.batches > gemv_plan::kMostRowBatches) return "serves up to 65535 matrices: see vectorized";
  return "";
}

std::string_view supports_columns(const GemvArgs& args, const DeviceProperties&) {
  return gemv_plan::geometry(args).transposed ? "" : "an output for each row in memory: see vectorized";
}

RungPlan plan_of(const Cut& cut, const WorkspaceSpec& workspace = {}) {
  return {.workspace = workspace, .config = PlanConfig::of(cut)};
}

RungPlan plan_threads(const GemvArgs& args, const DeviceProperties&) {
  return plan_of(gemv_plan::cut_outputs(args, gemv_plan::kLessonBlock));
}
RungPlan plan_warps(const GemvArgs& args, const DeviceProperties&) {
  return plan_of(gemv_plan::cut_outputs(args, gemv_plan::kLessonBlock / gemv_plan::kWarp));
}
RungPlan plan_vectorized(const GemvArgs& args, const DeviceProperties&) {
  return plan_of(gemv_plan::cut_outputs(args, gemv_plan::kVectorizedBlock / gemv_plan::kWarp));
}
RungPlan plan_several(const GemvArgs& args, const DeviceProperties&) {
  return plan_of(gemv_plan::cut_several(args));
}
RungPlan plan_whole_rows(const GemvArgs& args, const DeviceProperties&) {
  return plan_of(gemv_plan::cut_whole_rows(args));
}
RungPlan plan_split(const GemvArgs& args, const DeviceProperties& device) {
  return plan_of(gemv_plan::cut_split(args, device), gemv_plan::split_workspace(args, device));
}
// A sum for each part and column of a tile, and a ticket for each tile.
RungPlan plan_columns(const GemvArgs& args, const DeviceProperties& device) {
  const Cut cut = gemv_plan::cut_columns(args, device);
  if (cut.parts == 1) return plan_of(cut);
  const auto columns =
      // NOLINTNEXTLINE(bugprone-implicit-widening-of-multiplication-result): 512 lanes at most
      static_cast<std::size_t>(cut.lanes * gemv_plan::kVectorBytes / gemv_plan::element_bytes(args));
  return plan_of(cut,
                 {.bytes = static_cast<std::size_t>(cut.blocks) * columns * gemv_plan::sum_bytes(args),
                  .zeroed_bytes = static_cast<std::size_t>(cut.blocks / cut.parts) * sizeof(std::uint32_t)});
}

}  // namespace

std::vector<Rung<GemvArgs>> gemv_rung_table() {
  return {
      {.rung = gemv_rungs::serial,
       .idea = "Two loops and one accumulator: the definition.",
       .change = "the start of the CPU climb; in double (f64 in long double)"},
      {.rung = gemv_rungs::threaded,
       .idea = "Rows by 16 accumulators, or columns side by side, a part of the outputs for every core.",
       .change = "loops that the compiler makes vectors of, along whatever lies side by side"},
      {.rung = gemv_rungs::thread_per_row,
       .idea = "A thread walks along the elements of one output.",
       .change = "the start of the GPU climb; it serves every call",
       .plan = plan_threads,
       .expects = {{"global_load_sectors_per_request", 8, 9}}},  // of 16 rows
      {.rung = gemv_rungs::warp_per_row,
       .idea = "The lanes of a warp stand side by side in a row, and meet in a butterfly.",
       .change = "a warp's loads lie side by side",
       .source = "Harris, Optimizing parallel reduction in CUDA (2007)",
       .supports = supports_rows,
       .plan = plan_warps,
       .expects = {{"global_load_sectors_per_request", 3.9, 4.1}}},
      {.rung = gemv_rungs::vectorized,
       .idea =
           "16-byte loads, four of the matrix on their way before the first product, x from L1 as it lies to them.",
       .change =
           "4 to 16 times as many bytes in flight for each lane; rows that begin anywhere are loaded from their alignment on",
       .supports = supports_whole_rows,
       .plan = plan_vectorized,
       .expects = {{"global_load_sectors_per_request", 15, 16}}},
      {.rung = gemv_rungs::several_rows_per_warp,
       .idea = "As many lanes to a row as it has vectors, four rows of each group in flight.",
       .change = "rows shorter than a warp's load leave no lane idle",
       .supports = supports_whole_rows,
       .plan = plan_several,
       .expects = {{"global_load_sectors_per_request", 15, 16}}},
      {.rung = gemv_rungs::whole_rows,
       .idea = "A block has a few rows to itself, and as little code in front of the first load as can be.",
       .change =
           "threads of a block side by side in a row in place of a warp's lanes; rows share what is loaded of x",
       .supports = supports_whole_blocks,
       .plan = plan_whole_rows,
       .expects = {{"global_load_sectors_per_request", 14, 16}, {"bytes_moved_over_needed", 1, 1.45}}},
      {.rung = gemv_rungs::split_columns,
       .idea = "Blocks share rows: each multiplies a part of four of them by what it loads of x once.",
       .change = "few rows fill the device; the warp that comes last adds up the parts in their order",
       .source = "CUDA sample threadFenceReduction",
       .supports = supports_vectors,
       .plan = plan_split,
       .expects = {{"global_load_sectors_per_request", 14, 16}, {"bytes_moved_over_needed", 1, 1.4}}},
      {.rung = gemv_rungs::column_parallel,
       .idea =
           "Lanes side by side along the columns walk down the rows, an accumulator for each column of a vector.",
       .change =
           "the transpose without moving anything: no butterfly, the tree is over the block's threads and its parts",
       .supports = supports_columns,
       .plan = plan_columns,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
  };
}

// Short rows first: a lane's load is then a row, or several of its warp's. Else what keeps enough bytes on their way, and x near.
std::string_view gemv_choose(const GemvArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  const Geometry g = gemv_plan::geometry(args);
  if (g.transposed) return "column_parallel";
  if (g.x_step != 1) return "warp_per_row";
  const std::int64_t row_bytes = g.columns * gemv_plan::element_bytes(args);
  if (row_bytes < gemv_plan::kShortRowVectors * gemv_plan::kVectorBytes) return "several_rows_per_warp";
  if (gemv_plan::suits_whole_rows(args, device) && supports_whole_blocks(args, device).empty())
    return "whole_rows";
  const std::int64_t in_flight = g.batches * g.rows * smaller(row_bytes, gemv_plan::kWarpBytes);
  const bool rows_fill_device = in_flight >= device.multiprocessors * gemv_plan::kBytesInFlight;
  // A row that one warp has in flight at once gains nothing by being shared.
  if ((!rows_fill_device && row_bytes > gemv_plan::kWarpBytes) || row_bytes > gemv_plan::kCachedBytes)
    return "split_columns";
  const bool shares_x = g.rows * row_bytes >= gemv_plan::kSharedFromBytes && gemv_plan::is_aligned(args);
  return shares_x ? "split_columns" : "vectorized";
}

}  // namespace rooftile
