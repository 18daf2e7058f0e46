#include "rooftile/ops/scan/scan_table.h"

#include "rooftile/core/integers.h"
#include "rooftile/core/look_ahead_plan.h"
#include "rooftile/ops/scan/rungs.h"
#include "rooftile/ops/scan/scan_plan.h"

namespace rooftile {
namespace {

using scan_plan::Cut;

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

std::string_view supports_cluster(const ScanArgs& args, const DeviceProperties&) {
  return scan_plan::cut_tiles(args).tiles <= scan_plan::kClusterTiles
             ? ""
             : "a cluster per row: serves rows up to 256 KiB, counted from a 16-byte boundary";
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
RungPlan plan_nodes(const ScanArgs& args, int vectors) {
  Cut cut = scan_plan::cut_tiles(args, scan_plan::tile_bytes(vectors));
  cut.tree = {.nodes = cut.tiles};
  return plan_tiles(args, cut);
}
RungPlan plan_chain(const ScanArgs& args, const DeviceProperties&) {
  return plan_nodes(args, scan_plan::kVectors);
}
RungPlan plan_flat(const ScanArgs& args, const DeviceProperties&) {
  return plan_nodes(args, scan_plan::flat_vectors(size_of(args.in.dtype)));
}
RungPlan plan_tree(const ScanArgs& args, const DeviceProperties&) {
  return plan_tiles(args, scan_plan::cut_tiles(args));
}

RungPlan plan_cluster(const ScanArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(scan_plan::cut_tiles(args))};
}

RungPlan plan_ring(const ScanArgs& args, const DeviceProperties&) {
  Cut cut = scan_plan::cut_tiles(args, scan_plan::ring_of(size_of(args.in.dtype)).tile_bytes());
  cut.tree = {};
  return {.workspace =
              look_ahead_workspace(cut.rows.count, cut.tiles, scan_plan::accumulator_bytes(args.in.dtype)),
          .config = PlanConfig::of(cut)};
}

// What scan_choose() takes, on an H200, f32, cold, us:
// warp_per_row against the next best: 65536 rows of 1024 138.6 and 369, 4096 of 16384 157.8 and 158.5, 1000 of 5000 34.6 and
// 23.7: so many rows per multiprocessor keep its warps busy.
constexpr std::int64_t kManyRows = 16;
// flat_lookback against look_ahead by the bytes of a call: i32 2^22 18.8 and 21.6, 5000000 20.9 and 24.0, f64 2^21 19.6 and 23.7;
// f16 2^22 15.7 and 15.8; u8 2^23 15.8 and 15.7; of rows, whose ends a tile of look_ahead's does not meet: f16 500 of 40000 43.8
// and 47.6, u8 300 of 50000 32.4 and 40.7, 500 of 100000 73.5 and 66.6.
constexpr std::int64_t flat_bytes_chosen(std::size_t element, std::int64_t rows) {
  if (element > 2) return std::int64_t{24} << 20;
  return std::int64_t{rows > 1 ? 40 : 8} << 20;
}
// cluster_rows against the best of the others, by the tiles of a row: f32 3 tiles 100 MB 65.3 and 79.2, 160 MB 100.7 and 106.8, 400 MB
// 241.2 and 240.4; 5 tiles 80 MB 52.6 and 54.2, 160 MB 99.8 and 95.7; 8 tiles 60 MB 42.1 and 45.2, 120 MB 77.7 and 76.1; 10 tiles
// 96 MB 64.6 and 60.6; 15 tiles 24 MB 21.3 and 23.3, 72 MB 50.4 and 46.7. f16 8 MB 15.0 and 15.1, 20 MB 29.4 and 27.5; u8 1 MB 9.9
// and 10.2, 10 MB 36.9 and 21.3.
constexpr std::int64_t cluster_bytes_chosen(std::size_t element, std::int64_t tiles) {
  if (element > 2) return 600'000'000 / tiles;
  return std::int64_t{element == 2 ? 10 : 2} << 20;
}
// decoupled_lookback against flat_lookback, i32: 2^17 7.2 and 7.4, 2^18 8.0 and 7.8. Of integers alone: it adds up in another
// order in every run.
constexpr std::int64_t kChainTilesChosen = 32;

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
      {.rung = scan_rungs::flat_lookback,
       .idea =
           "Every tile reads the totals of all tiles in front of it in its row, at once and by all its warps.",
       .change = "one round trip to memory in place of one for each level: for a few hundred tiles",
       .plan = plan_flat,
       .expects = tiles()},
      {.rung = scan_rungs::cluster_rows,
       .idea =
           "A cluster per row: every block writes its total into the shared memory of the blocks behind it.",
       .change = "no round trip to memory, no ticket, no memory to clear: for rows of up to 16 tiles",
       .source = "PTX ISA, distributed shared memory",
       .supports = supports_cluster,
       .plan = plan_cluster,
       .expects = tiles()},
      {.rung = scan_rungs::look_ahead,
       .idea =
           "Warps have roles: tiles are loaded, summed up, looked back from and scanned at the same time, each kind of work "
           "some tiles ahead of the next.",
       .change =
           "a resident grid, tiles by a ticket, a ring of bulk copies; no barrier of the block; one warp adds up "
           "the totals of all tiles once, in place of every tile all those in front of it",
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
  const Cut cut = scan_plan::cut_tiles(args);
  const std::size_t element = size_of(args.in.dtype);
  const std::int64_t row_bytes = cut.rows.length * static_cast<std::int64_t>(element);
  const std::int64_t bytes = cut.rows.count * row_bytes;
  const bool is_short = cut.rows.count > 1 && row_bytes <= scan_plan::kWarpRowBytes;
  if (is_short && row_bytes <= scan_plan::kTileBytes / 4) return "warp_per_row";
  if (cut.tiles > 1 && cut.tiles <= scan_plan::kClusterTiles &&
      bytes <= cluster_bytes_chosen(element, cut.tiles) &&
      unavailable_reason(*scan_operator().find_rung("cluster_rows"), device).empty())
    return "cluster_rows";
  // A row that fills a tile is a block's, and waits for nobody; many rows keep all warps busy, one for each.
  const bool fills_tile = 4 * row_bytes > 3 * scan_plan::kTileBytes && cut.tiles == 1;
  if (is_short && !fills_tile && cut.rows.count >= std::int64_t{device.multiprocessors} * kManyRows)
    return "warp_per_row";
  if (cut.tiles == 1) return "tree_lookback";
  if (cut.rows.count * cut.tiles <= kChainTilesChosen && !is_float(args.in.dtype) &&
      scan_plan::accumulator_bytes(args.in.dtype) <= 4)
    return "decoupled_lookback";
  if (bytes <= flat_bytes_chosen(element, cut.rows.count)) return "flat_lookback";
  return unavailable_reason(*scan_operator().find_rung("look_ahead"), device).empty() ? "look_ahead"
                                                                                      : "tree_lookback";
}

}  // namespace rooftile
