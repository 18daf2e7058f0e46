#include "rooftile/ops/scan/scan_table.h"

#include <algorithm>

#include "rooftile/core/integers.h"
#include "rooftile/ops/scan/rungs.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile {
namespace {

using scan_plan::Cut;
using scan_plan::Rows;

std::string_view supports_lesson(const ScanArgs& args) {
  const DType dtype = args.in.dtype;
  if (args.op != ScanOp::sum || (dtype != DType::f32 && dtype != DType::i32 && dtype != DType::u32))
    return "a lesson rung: serves sums of f32, i32 and u32";
  return "";
}

std::string_view supports_tree(const ScanArgs& args, const DeviceProperties&) {
  if (const std::string_view reason = supports_lesson(args); !reason.empty()) return reason;
  return scan_plan::rows_of(args).length <= scan_plan::kTreeElements
             ? ""
             : "a block per row: serves rows up to 2048 elements";
}

std::string_view supports_recursion(const ScanArgs& args, const DeviceProperties&) {
  if (const std::string_view reason = supports_lesson(args); !reason.empty()) return reason;
  return scan_plan::rows_of(args).count <= 1 ? "" : "serves a single row";
}

std::string_view supports_chain(const ScanArgs& args, const DeviceProperties&) {
  return scan_plan::accumulator_bytes(args.in.dtype) <= 4 ? ""
                                                          : "publishes sums of 4 bytes: see tree_lookback";
}

std::string_view supports_short_rows(const ScanArgs& args, const DeviceProperties&) {
  return scan_plan::rows_of(args).length * static_cast<std::int64_t>(size_of(args.in.dtype)) <=
                 scan_plan::kWarpRowBytes
             ? ""
             : "a warp per row: serves rows up to 64 KiB";
}

// The totals of every level, one behind the other.
RungPlan plan_totals(const ScanArgs& args, int elements) {
  std::int64_t totals = 0;
  for (std::int64_t n = args.in.numel(); n > elements;) totals += n = ceil_div(n, elements);
  return {
      .workspace = {.bytes = static_cast<std::size_t>(totals) * scan_plan::accumulator_bytes(args.in.dtype)}};
}
RungPlan plan_recursive(const ScanArgs& args, const DeviceProperties&) {
  return plan_totals(args, scan_plan::kTreeElements);
}
RungPlan plan_shuffles(const ScanArgs& args, const DeviceProperties&) {
  return plan_totals(args, scan_plan::kShuffleElements);
}

RungPlan plan_tiles(const ScanArgs& args, const Cut& cut) {
  return {.workspace = scan_plan::node_workspace(cut.rows.count * cut.tree.nodes,
                                                 scan_plan::accumulator_bytes(args.in.dtype)),
          .config = PlanConfig::of(cut)};
}
// A node for every tile, and no other.
RungPlan plan_chain(const ScanArgs& args, const DeviceProperties&) {
  Cut cut = scan_plan::cut_tiles(args, scan_plan::kLargeVectors);
  cut.tree.nodes = cut.tiles;
  return plan_tiles(args, cut);
}
RungPlan plan_tree(const ScanArgs& args, const DeviceProperties& device) {
  return plan_tiles(args, scan_plan::cut_tiles(args, scan_plan::tile_vectors(args, device)));
}

// Two tickets, whether there are nodes or not.
RungPlan plan_ring(const ScanArgs& args, const DeviceProperties&) {
  RungPlan plan = plan_tiles(args, scan_plan::cut_tiles(args, scan_plan::kLargeVectors));
  plan.workspace.zeroed_bytes = std::max(plan.workspace.zeroed_bytes, scan_plan::kTicketBytes);
  return plan;
}

// How often a tile asks for what others publish is a matter of time: what is written says that all is written once.
std::vector<AccessExpectation> tiles() {
  return {{"global_store_sectors_per_request", 14, 16}, {"shared_load_conflict_degree", 1, 1}};
}

}  // namespace

std::vector<Rung<ScanArgs>> scan_rung_table() {
  return {
      {.rung = scan_rungs::serial,
       .idea = "One loop along each row: the definition.",
       .change = "the start of the CPU climb; sums of floats in double and long double"},
      {.rung = scan_rungs::threaded,
       .idea =
           "Every core sums up parts of a row; what is in front of each part is known then, and every core scans its parts.",
       .change = "all cores, for two reads of the input"},
      {.rung = scan_rungs::blelloch_block,
       .idea = "A tree in shared memory: sums on the way up, what stands in front on the way down.",
       .change = "the start of the GPU climb: a block per row",
       .source = "Blelloch 1990",
       .supports = supports_tree,
       .expects = {{"bytes_moved_over_needed", 1, 1.02}, {"shared_load_conflict_degree", 2, 16}}},
      {.rung = scan_rungs::blelloch_conflict_free,
       .idea =
           "A word is left out behind every 32 elements: pairs at any distance stand in banks of their own.",
       .change = "the place of an element in shared memory",
       .source = "GPU Gems 3, ch. 39",
       .supports = supports_tree,
       .expects = {{"bytes_moved_over_needed", 1, 1.02}, {"shared_load_conflict_degree", 1, 1.6}}},
      {.rung = scan_rungs::recursive,
       .idea =
           "Blocks leave their totals, the totals are scanned in the same way, and what is in front of each block is "
           "added to it.",
       .change = "any length, by three launches per factor of 2048",
       .source = "GPU Gems 3, ch. 39",
       .supports = supports_recursion,
       .plan = plan_recursive,
       .expects = {{"bytes_moved_over_needed", 2, 2.2}}},
      {.rung = scan_rungs::warp_shuffle_recursive,
       .idea = "A warp scans 32 values register to register; shared memory carries one value per warp.",
       .change = "two barriers in place of 23",
       .source = "Kogge and Stone 1973",
       .supports = supports_recursion,
       .plan = plan_shuffles,
       .expects = {{"bytes_moved_over_needed", 2, 2.2}, {"shared_load_conflict_degree", 1, 1}}},
      {.rung = scan_rungs::decoupled_lookback,
       .idea =
           "A tile publishes its total at once and its prefix later, and looks back until it meets a prefix.",
       .change = "one launch: every element is read once and written once",
       .source = "Merrill and Garland 2016",
       .determinism = Determinism::not_guaranteed,
       .supports = supports_chain,
       .plan = plan_chain,
       .expects = tiles()},
      {.rung = scan_rungs::tree_lookback,
       .idea =
           "Tiles are the leaves of a tree of 32 branches: a tile adds up the nodes in front of it, always the same ones.",
       .change = "a fixed order: the same bits in every run, and no chain from tile to tile",
       .plan = plan_tree,
       .expects = tiles()},
      {.rung = scan_rungs::look_ahead,
       .idea =
           "Warps have roles: tiles are loaded, summed up, looked back from and scanned at the same time, each kind of work "
           "some tiles ahead of the next.",
       .change = "a resident grid, tiles by a ticket, a ring of bulk copies; no barrier of the block",
       .source = "CUTLASS's warp-specialised kernels; PTX ISA, cp.async.bulk",
       .plan = plan_ring,
       .expects = tiles()},
      {.rung = scan_rungs::warp_per_row,
       .idea = "A warp walks along a short row and carries the sum in a register.",
       .change = "no shared memory, no barrier, no waiting for other blocks",
       .supports = supports_short_rows,
       .expects = {{"global_load_sectors_per_request", 16, 16}, {"bytes_moved_over_needed", 1, 1}}},
  };
}

std::string_view scan_choose(const ScanArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  const Rows rows = scan_plan::rows_of(args);
  // A tile is a block's: a row that leaves most of it empty is a warp's.
  const std::int64_t bytes = rows.length * static_cast<std::int64_t>(size_of(args.in.dtype));
  return rows.count > 1 && bytes <= scan_plan::tile_bytes(scan_plan::kSmallVectors) ? "warp_per_row"
                                                                                    : "tree_lookback";
}

}  // namespace rooftile
