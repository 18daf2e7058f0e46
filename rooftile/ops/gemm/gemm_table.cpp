#include "rooftile/ops/gemm/gemm_table.h"

#include <cstdlib>

#include "rooftile/core/integers.h"
#include "rooftile/ops/gemm/gemm_plan.h"
#include "rooftile/ops/gemm/rungs.h"

namespace rooftile {
namespace {

using gemm_plan::Problem;
using gemm_plan::Schedule;

std::string_view supports_lesson(const GemmArgs& args, const DeviceProperties&) {
  return args.a.dtype == DType::f32 ? "" : "a lesson rung: serves f32";
}

// Copies count in 32 bits within a tile.
std::string_view supports_tiles(const GemmArgs& args, const DeviceProperties&) {
  const Problem p = gemm_plan::problem_of(args);
  constexpr std::int64_t kMostStride = std::int64_t{1} << 21;  // of 128 lines of 8 bytes within 2^31
  for (const std::int64_t stride : {p.a.row, p.a.column, p.b.row, p.b.column})
    if (stride < 0 || stride > kMostStride) return "serves strides of 0 to 2^21 elements: see naive";
  return "";
}
std::string_view supports_tile_lesson(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_lesson(args, device); !reason.empty()) return reason;
  const Problem p = gemm_plan::problem_of(args);
  if (!gemm_plan::has_vectors(p.b_data, p.b, p.k, p.n, sizeof(float)))
    return "a lesson rung: serves a b whose rows are multiples of 16 bytes";
  return supports_tiles(args, device);
}

std::size_t element_of(const GemmArgs& args) { return size_of(args.a.dtype); }

RungPlan plan_schedule(const GemmArgs& args, const Schedule& schedule) {
  RungPlan plan{.config = PlanConfig::of(schedule)};
  if (schedule.units > 0) {
    const gemm_plan::TileShape tile = gemm_plan::tile_shape(element_of(args), schedule.is_small);
    const auto of_tile = static_cast<std::size_t>(tile.rows()) * static_cast<std::size_t>(tile.columns());
    plan.workspace = {.bytes = 2 * static_cast<std::size_t>(schedule.units) * of_tile * element_of(args)};
  }
  return plan;
}
RungPlan plan_whole(const GemmArgs& args, const DeviceProperties&) {
  return plan_schedule(args, gemm_plan::whole_tiles(gemm_plan::problem_of(args), element_of(args), false));
}
RungPlan plan_split(const GemmArgs& args, const DeviceProperties& device) {
  return plan_schedule(args, gemm_plan::split_tiles(gemm_plan::problem_of(args), element_of(args), device));
}
RungPlan plan_fastest(const GemmArgs& args, const DeviceProperties& device) {
  return plan_schedule(args, gemm_plan::fastest(gemm_plan::problem_of(args), element_of(args), device));
}

}  // namespace

std::vector<Rung<GemmArgs>> gemm_rung_table() {
  return {
      {.rung = gemm_rungs::serial,
       .idea = "Three loops: the definition.",
       .change = "the start of the CPU climb"},
      {.rung = gemm_rungs::blocked,
       .idea = "Sums of some rows of out stay in the cache while a piece of b goes by.",
       .change = "b is read from the cache, and the compiler turns rows of sums into vectors"},
      {.rung = gemm_rungs::naive_uncoalesced,
       .idea = "A thread for each element of out, neighbours in a warp below each other.",
       .change = "the start of the GPU climb: the axes of a block mixed up",
       .supports = supports_lesson},
      {.rung = gemm_rungs::naive,
       .idea = "A thread for each element of out, neighbours in a warp side by side.",
       .change = "a warp's loads of a are one address, those of b and its stores one line",
       .source = "CUDA C++ Programming Guide"},
      {.rung = gemm_rungs::shared_tile,
       .idea =
           "A block brings a tile of a and one of b into shared memory, and reads each element 32 times there.",
       .change = "one load from global memory for 16 multiply-adds",
       .source = "CUDA C++ Programming Guide",
       .supports = supports_lesson},
      {.rung = gemm_rungs::cp_async,
       .idea =
           "Copies that go past the registers, some steps ahead; a thread has 8 x 16 sums, 128 multiply-adds for 6 loads.",
       .change = "no register waits for global memory, and one barrier parts two steps",
       .source = "PTX ISA, cp.async; CUTLASS",
       .supports = supports_tile_lesson,
       .plan = plan_whole},
      {.rung = gemm_rungs::split_k,
       .idea = "Tiles in parts along k, as many as fill the device; a second kernel adds up a tile's parts.",
       .change = "cp_async for few tiles of a long k",
       .source = "CUTLASS",
       .supports = supports_tile_lesson,
       .plan = plan_split},
      {.rung = gemm_rungs::stream_k,
       .idea = "All steps of all tiles in a row, divided among the blocks wherever a tile ends.",
       .change = "no round of blocks leaves multiprocessors idle; any strides, two sizes of tiles",
       .source = "Osama et al. 2023",
       .supports = supports_tiles,
       .plan = plan_fastest},
  };
}

std::string_view gemm_choose(const GemmArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "blocked";
  const RungRow& tiles = *gemm_operator().find_rung("stream_k");
  if (unavailable_reason(tiles, device).empty() && supports_tiles(args, device).empty()) return "stream_k";
  return "naive";
}

}  // namespace rooftile
