#include "rooftile/ops/select/select_table.h"

#include "rooftile/core/integers.h"
#include "rooftile/ops/select/rungs.h"
#include "rooftile/ops/select/select_plan.h"

namespace rooftile {
namespace {

using select_plan::Cut;

std::string_view supports_lesson(const SelectArgs& args, const DeviceProperties&) {
  const DType dtype = args.in.dtype;
  if (dtype != DType::f32 && dtype != DType::i32 && dtype != DType::u32)
    return "a lesson rung: serves f32, i32 and u32";
  return "";
}

std::string_view supports_any_order(const SelectArgs& args, const DeviceProperties& device) {
  if (args.stable) return "gives the chosen ones in any order: asked where stable is false";
  if (args.op == SelectOp::partition) return "writes the chosen ones alone: serves no partition";
  return supports_lesson(args, device);
}

RungPlan plan_counter(const SelectArgs&, const DeviceProperties&) {
  return {.workspace = {.zeroed_bytes = sizeof(std::uint64_t)}};
}

Cut large_tiles(const SelectArgs& args) {
  return select_plan::cut_of(args.in.numel(), size_of(args.in.dtype),
                             select_plan::large_vectors(size_of(args.in.dtype)));
}

RungPlan plan_counts(const SelectArgs& args, const DeviceProperties&) {
  const Cut cut = large_tiles(args);
  return {.workspace = {.bytes = sizeof(std::int64_t) * static_cast<std::size_t>(cut.tiles)},
          .config = PlanConfig::of(cut)};
}

// Small tiles while large ones would leave multiprocessors without one.
RungPlan plan_tiles(const SelectArgs& args, const DeviceProperties& device) {
  Cut cut = large_tiles(args);
  if (cut.tiles < std::int64_t{2} * device.multiprocessors)
    cut = select_plan::cut_of(args.in.numel(), size_of(args.in.dtype), select_plan::kSmallVectors);
  return {.workspace = select_plan::tile_workspace(cut.tiles), .config = PlanConfig::of(cut)};
}

// On an H200, i32, cold, half chosen, decoupled_lookback against look_ahead: 2^22 21.7 and 20.9 us.
constexpr std::int64_t kRingFromBytes = std::int64_t{12} << 20;

RungPlan plan_ring(const SelectArgs& args, const DeviceProperties&) {
  const std::size_t size = size_of(args.in.dtype);
  const Cut cut = select_plan::cut_bytes(args.in.numel(), size, select_plan::ring_of(size).tile_bytes());
  return {.workspace = look_ahead_workspace(1, cut.tiles, sizeof(std::uint32_t)),
          .config = PlanConfig::of(cut)};
}

}  // namespace

std::vector<Rung<SelectArgs>> select_rung_table() {
  return {
      {.rung = select_rungs::serial,
       .idea = "One loop: what is chosen is written behind what was chosen before.",
       .change = "the start of the CPU climb"},
      {.rung = select_rungs::threaded,
       .idea =
           "Every core counts parts of the vector; where each part's begin is known then, and every core writes parts.",
       .change = "all cores, for two reads of the input"},
      {.rung = select_rungs::unordered_atomics,
       .idea = "Whoever has a chosen element adds one to a counter and writes to the place that it was.",
       .change = "the start of the GPU climb: any order, for calls with stable=false",
       .determinism = Determinism::not_guaranteed,
       .supports = supports_any_order,
       .plan = plan_counter,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}, {"atomic_lanes_per_address", 2, 32}}},
      {.rung = select_rungs::scan_based,
       .idea =
           "An element's place is the number of chosen ones in front of it: tiles are counted, the counts summed up, and "
           "every tile is read once more and written.",
       .change = "the order is kept, by three launches and two reads of the input",
       .source = "Blelloch 1990",
       .supports = supports_lesson,
       .plan = plan_counts,
       .expects = {{"global_load_sectors_per_request", 12, 16}, {"bytes_moved_over_needed", 1.5, 2.1}}},
      {.rung = select_rungs::decoupled_lookback,
       .idea =
           "A tile publishes its count at once and its place later, and looks back until it meets a tile that knows its "
           "place.",
       .change = "one launch, one read",
       .source = "Merrill and Garland 2016",
       .plan = plan_tiles,
       .expects = {{"global_store_sectors_per_request", 3, 6}}},
      {.rung = select_rungs::look_ahead,
       .idea =
           "Warps have roles: tiles are loaded, counted, looked back from and written at the same time, each kind of work "
           "some tiles ahead of the next.",
       .change = "a resident grid, tiles by a ticket, a ring of bulk copies; no barrier of the block",
       .source = "CUTLASS's warp-specialised kernels; PTX ISA, cp.async.bulk",
       .plan = plan_ring,
       .expects = {{"global_store_sectors_per_request", 3, 6}}},
  };
}

std::string_view select_choose(const SelectArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  const std::size_t size = size_of(args.in.dtype);
  const std::int64_t bytes = args.in.numel() * static_cast<std::int64_t>(size);
  // Bytes: sixteen to a vector keep a scanner busy for longer than a tile takes to arrive.
  if (size == 1 || bytes < kRingFromBytes) return "decoupled_lookback";
  return unavailable_reason(*select_operator().find_rung("look_ahead"), device).empty()
             ? "look_ahead"
             : "decoupled_lookback";
}

}  // namespace rooftile
