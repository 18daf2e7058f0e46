#include "rooftile/ops/gemm/gemm_table.h"

#include <iterator>
#include <limits>

#include "rooftile/core/integers.h"
#include "rooftile/ops/gemm/gemm_few.h"
#include "rooftile/ops/gemm/gemm_model.h"
#include "rooftile/ops/gemm/gemm_plan.h"
#include "rooftile/ops/gemm/gemm_tensor.h"
#include "rooftile/ops/gemm/rungs.h"

namespace rooftile {
namespace {

using gemm_plan::Problem;
using gemm_plan::Schedule;
using gemm_plan::TileSize;

std::string_view supports_lesson(const GemmArgs& args, const DeviceProperties&) {
  return args.a.dtype == DType::f32 ? "" : "a lesson rung: serves f32";
}

std::string_view supports_register_tile(const GemmArgs& args, const DeviceProperties& device) {
  if (args.activation != GemmActivation::none) return "a lesson rung: serves no activation";
  return supports_lesson(args, device);
}
std::string_view supports_vectors(const GemmArgs& args, const DeviceProperties& device) {
  const Problem p = gemm_plan::problem_of(args);
  if (!gemm_plan::has_vectors(p.a_data, p.a, p.m, p.k, sizeof(float)) ||
      !gemm_plan::has_vectors(p.b_data, p.b, p.k, p.n, sizeof(float)))
    return "a lesson rung: serves rows of multiples of 16 bytes, not transposed";
  return supports_register_tile(args, device);
}

std::size_t element_of(const GemmArgs& args) { return size_of(args.a.dtype); }
bool is_half(const GemmArgs& args) { return element_of(args) == 2; }

// Copies count in 32 bits within a tile.
std::string_view supports_tiles(const GemmArgs& args, const DeviceProperties&) {
  const Problem p = gemm_plan::problem_of(args);
  const std::int64_t most = (std::int64_t{1} << 23) /
                            static_cast<std::int64_t>(element_of(args));  // 255 and 31 of them within 2^32
  for (const std::int64_t stride : {p.a.row, p.a.column, p.b.row, p.b.column})
    if (stride < 0 || stride > most) return "serves strides of 0 to 2^23 bytes: see naive";
  return "";
}
std::string_view supports_tile_lesson(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_lesson(args, device); !reason.empty()) return reason;
  const Problem p = gemm_plan::problem_of(args);
  if (!gemm_plan::has_vectors(p.b_data, p.b, p.k, p.n, sizeof(float)))
    return "a lesson rung: serves a b whose rows are multiples of 16 bytes";
  return supports_tiles(args, device);
}

std::string_view supports_vector_tiles(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_lesson(args, device); !reason.empty()) return reason;
  const gemm_plan::CopyWays ways = gemm_plan::copy_ways(gemm_plan::problem_of(args), sizeof(float));
  if (ways.a != gemm_plan::CopyWay::turned || ways.b != gemm_plan::CopyWay::along)
    return "a lesson rung: serves rows of multiples of 16 bytes, not transposed";
  return supports_tiles(args, device);
}

std::string_view supports_engine(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_vector_tiles(args, device); !reason.empty()) return reason;
  const Problem p = gemm_plan::problem_of(args);
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
  if (p.batches > 1 || p.k < 1 || p.n < 1 || p.m > kMost || p.n > kMost || p.k > kMost)
    return "serves one matrix that is not empty, of up to 2^31 - 1 rows and columns: see turned_copies";
  if (p.b.row < p.n) return "serves a b whose rows do not repeat: see turned_copies";
  return "";
}

RungPlan plan_schedule(const GemmArgs& args, const Schedule& schedule) {
  RungPlan plan{.config = PlanConfig::of(schedule)};
  if (schedule.units > 0) {
    const gemm_plan::TileShape tile = gemm_plan::tile_shape(element_of(args), schedule.size);
    const auto of_tile = static_cast<std::size_t>(tile.rows()) * static_cast<std::size_t>(tile.columns());
    plan.workspace = {.bytes = 2 * static_cast<std::size_t>(schedule.units) * of_tile * element_of(args)};
  }
  return plan;
}
RungPlan plan_packed(const GemmArgs& args, const DeviceProperties& device) {
  const gemm_plan::HostCut cut = gemm_plan::host_cut(gemm_plan::problem_of(args), device);
  return {.workspace = {.bytes = static_cast<std::size_t>(cut.slots) *
                                 static_cast<std::size_t>(gemm_plan::HostBlock::elements()) *
                                 (is_half(args) ? sizeof(float) : element_of(args))},
          .config = PlanConfig::of(cut)};
}
RungPlan plan_whole(const GemmArgs& args, const DeviceProperties&) {
  return plan_schedule(
      args, gemm_plan::whole_tiles(gemm_plan::problem_of(args), element_of(args), TileSize::large));
}
RungPlan plan_sliced(const GemmArgs& args, const DeviceProperties&) {
  return plan_schedule(
      args, gemm_plan::whole_tiles(gemm_plan::problem_of(args), element_of(args), TileSize::sliced));
}
RungPlan plan_split(const GemmArgs& args, const DeviceProperties& device) {
  return plan_schedule(args, gemm_plan::split_tiles(gemm_plan::problem_of(args), element_of(args), device));
}
std::string_view supports_skinny(const GemmArgs& args, const DeviceProperties&) {
  if (args.a.dtype != DType::f32) return "serves f32: see stream_k";
  if (gemm_plan::skinny_problem_of(args).m > gemm_plan::kSkinnyRows)
    return "serves up to 16 rows, or columns: see stream_k";
  return "";
}
RungPlan plan_skinny(const GemmArgs& args, const DeviceProperties& device) {
  const Problem p = gemm_plan::skinny_problem_of(args);
  const gemm_plan::SkinnyCut cut = gemm_plan::skinny_cut(p, device);
  const std::int64_t sums = cut.parts == 1 ? 0 : cut.parts * p.batches * p.m * p.n;
  return {.workspace = {.bytes = static_cast<std::size_t>(sums) * sizeof(float)},
          .config = PlanConfig::of(cut)};
}
std::string_view supports_clusters(const GemmArgs& args, const DeviceProperties& device) {
  if (args.a.dtype != DType::f32) return "serves f32: see stream_k";
  if (gemm_plan::problem_of(args).k > gemm_plan::kMostSteps) return "serves k up to 2^31 - 1";
  return supports_tiles(args, device);
}
RungPlan plan_clustered(const GemmArgs& args, const DeviceProperties& device) {
  return {.config = PlanConfig::of(gemm_plan::clustered(gemm_plan::problem_of(args), device))};
}
std::string_view supports_persistent(const GemmArgs& args, const DeviceProperties&) {
  if (args.a.dtype != DType::f32) return "serves f32: see stream_k";
  if (gemm_plan::problem_of(args).k > gemm_plan::kMostSteps) return "serves k up to 2^31 - 1";
  return "";
}
RungPlan plan_persistent(const GemmArgs& args, const DeviceProperties& device) {
  return {.config = PlanConfig::of(gemm_plan::persistent_cut(gemm_plan::problem_of(args), device))};
}
std::string_view supports_half(const GemmArgs& args, const DeviceProperties&) {
  return is_half(args) ? "" : "serves f16 and bf16";
}
std::string_view supports_chunks(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_half(args, device); !reason.empty()) return reason;
  return gemm_plan::copy_ways(gemm_plan::problem_of(args), element_of(args)).a == gemm_plan::CopyWay::single
             ? "serves rows or columns without gaps, at multiples of 16 bytes: see wmma_shared"
             : "";
}
RungPlan plan_mma(const GemmArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(gemm_plan::mma_cut(gemm_plan::problem_of(args)))};
}
std::string_view supports_wgmma(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_half(args, device); !reason.empty()) return reason;
  const Problem p = gemm_plan::problem_of(args);
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1024;  // a tile may end behind the last row
  if (p.k < 1) return "serves k of 1 and more: see wmma_shared";
  if (p.m > kMost || p.n > kMost || p.k > kMost || p.batches > kMost ||
      gemm_plan::wgmma_operands(p).bytes() / gemm_plan::kVectorBytes > static_cast<std::size_t>(kMost))
    return "serves up to 2^31 - 1024 rows and columns: see mma_cp_async";
  return "";
}
RungPlan plan_steps(const GemmArgs& args, const DeviceProperties& device) {
  const Problem p = gemm_plan::problem_of(args);
  return {.workspace = {.bytes = gemm_plan::wgmma_operands(p).bytes()},
          .config = PlanConfig::of(gemm_plan::wgmma_cut(p, gemm_plan::kStepsShape, device))};
}
RungPlan plan_wgmma(const GemmArgs& args, const DeviceProperties& device) {
  const Problem p = gemm_plan::problem_of(args);
  return {.workspace = {.bytes = gemm_plan::wgmma_operands(p).bytes()},
          .config = PlanConfig::of(gemm_plan::fastest_wgmma(p, device))};
}
RungPlan plan_multicast(const GemmArgs& args, const DeviceProperties& device) {
  const Problem p = gemm_plan::problem_of(args);
  return {.workspace = {.bytes = gemm_plan::wgmma_operands(p).bytes()},
          .config = PlanConfig::of(gemm_plan::fastest_multicast(p, device))};
}
std::string_view supports_parts(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_wgmma(args, device); !reason.empty()) return reason;
  const Problem p = gemm_plan::problem_of(args);
  constexpr std::int64_t kMost = 65535;  // blocks along y and z
  return p.n > 16 * kMost || p.batches > kMost
             ? "serves up to 2^20 - 16 columns and 65535 products: see warp_specialized"
             : "";
}
RungPlan plan_parts(const GemmArgs& args, const DeviceProperties& device) {
  const Problem p = gemm_plan::problem_of(args);
  return {.workspace = {.bytes = gemm_plan::wgmma_operands(p).bytes()},
          .config = PlanConfig::of(gemm_plan::fastest_parts(p, device))};
}
std::string_view supports_swap(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_wgmma(args, device); !reason.empty()) return reason;
  return gemm_plan::skinny_problem_of(args).m > gemm_plan::kMostSwapRows
             ? "serves up to 64 rows, or columns: see warp_specialized"
             : "";
}
RungPlan plan_swap(const GemmArgs& args, const DeviceProperties& device) {
  const Problem p = gemm_plan::skinny_problem_of(args);
  return {.workspace = {.bytes = gemm_plan::wgmma_operands(p).bytes()},
          .config = PlanConfig::of(gemm_plan::swap_cut(p, device))};
}
std::string_view supports_direct(const GemmArgs& args, const DeviceProperties& device) {
  if (const std::string_view reason = supports_half(args, device); !reason.empty()) return reason;
  const Problem p = gemm_plan::skinny_problem_of(args);
  if (p.m > gemm_plan::kMostDirectRows) return "serves up to 16 rows, or columns: see swap_ab";
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 4096;  // k, and steps that end behind it
  if (p.k < 1 || p.k > kMost) return "serves k of 1 to 2^31 - 4096: see wmma_shared";
  return gemm_plan::has_direct_rows(p) ? ""
                                       : "serves operands along k, at multiples of 16 bytes: see swap_ab";
}
RungPlan plan_direct(const GemmArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(gemm_plan::direct_cut(gemm_plan::skinny_problem_of(args)))};
}
std::string_view supports_divided_tiles(const GemmArgs& args, const DeviceProperties& device) {
  return is_half(args) ? "serves f32 and f64: see mma_cp_async" : supports_tiles(args, device);
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
      {.rung = gemm_rungs::packed,
       .idea =
           "Every core packs panels of both operands, and multiplies them with its sums in vector registers.",
       .change = "all cores, the widest vectors that the processor has, and no stride in the innermost loop",
       .source = "Goto and van de Geijn 2008",
       .plan = plan_packed},
      {.rung = gemm_rungs::naive_uncoalesced,
       .idea = "A thread for each element of out, neighbours in a warp below each other.",
       .change = "the start of the GPU climb: the axes of a block mixed up",
       .supports = supports_lesson,
       .expects = {{"global_load_sectors_per_request", 16, 17}}},
      {.rung = gemm_rungs::naive,
       .idea = "A thread for each element of out, neighbours in a warp side by side.",
       .change = "a warp's loads of a are one address, those of b and its stores one line",
       .source = "CUDA C++ Programming Guide",
       .expects = {{"global_load_sectors_per_request", 2.4, 2.6}}},
      {.rung = gemm_rungs::shared_tile,
       .idea =
           "A block brings a tile of a and one of b into shared memory, and reads each element 32 times there.",
       .change = "one load from global memory for 16 multiply-adds",
       .source = "CUDA C++ Programming Guide",
       .supports = supports_lesson,
       .expects = {{"global_load_sectors_per_request", 3.9, 4.1}, {"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::thread_tile,
       .idea = "A thread has 8 x 8 sums in registers: 64 products of 16 elements read.",
       .change = "a quarter of a load from shared memory for each multiply-add",
       .source = "Volkov and Demmel 2008",
       .supports = supports_register_tile,
       .expects = {{"shared_load_conflict_degree", 2, 4}}},
      {.rung = gemm_rungs::vectorized,
       .idea = "Every load has 16 bytes; a is transposed on its way into shared memory.",
       .change = "a quarter of the load instructions, and no bank is met twice",
       .supports = supports_vectors,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::double_buffer,
       .idea = "The next step is on its way while this one is multiplied.",
       .change = "one barrier for a step in place of two",
       .source = "Volkov and Demmel 2008",
       .supports = supports_vectors,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::warp_tile,
       .idea = "The lanes of a warp stand 8 x 4 on 64 x 32 elements.",
       .change = "96 different elements for 2048 products of a warp in place of 136",
       .source = "CUTLASS",
       .supports = supports_vectors,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::cp_async,
       .idea =
           "Copies that go past the registers, some steps ahead; a thread has 8 x 16 sums, 128 multiply-adds for 6 loads.",
       .change = "no register waits for global memory, and one barrier parts two steps",
       .source = "PTX ISA, cp.async; CUTLASS",
       .supports = supports_tile_lesson,
       .plan = plan_whole,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::turned_copies,
       .idea = "Rows of a by 16 bytes, asked for a step ahead and stored as columns.",
       .change = "2 loads and 8 stores of a step in place of 8 copies of 4 bytes",
       .source = "CUTLASS",
       .supports = supports_vector_tiles,
       .plan = plan_whole,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::sliced_k,
       .idea = "A tile of 64 x 64 to a block, all of it to each of its four warps, which part the steps.",
       .change = "four times as many tiles, and as many multiply-adds for a load as before",
       .source = "CUTLASS",
       .supports = supports_vector_tiles,
       .plan = plan_sliced,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::tma,
       .idea = "The copy engine brings b, a box of 8 lines at a time; a is turned by the threads.",
       .change = "turned_copies with no copy of b to make for any thread",
       .source = "PTX ISA, cp.async.bulk.tensor",
       .supports = supports_engine,
       .plan = plan_whole,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::split_k,
       .idea = "Tiles in parts along k, as many as fill the device; a second kernel adds up a tile's parts.",
       .change = "turned_copies for few tiles of a long k",
       .source = "CUTLASS",
       .supports = supports_vector_tiles,
       .plan = plan_split,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::stream_k,
       .idea = "All steps of all tiles in a row, divided among the blocks wherever a tile ends.",
       .change = "no round of blocks leaves multiprocessors idle; any strides, three sizes of tiles",
       .source = "Osama et al. 2023",
       .supports = supports_divided_tiles,
       .plan = plan_fastest,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::cluster_k,
       .idea =
           "A cluster has a tile together; its blocks part the steps and meet in distributed shared memory.",
       .change = "no second kernel, and no part's way to memory and back",
       .source = "PTX ISA, distributed shared memory",
       .supports = supports_clusters,
       .plan = plan_clustered,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::skinny,
       .idea =
           "Up to 16 rows or columns: what a thread reads of the long operand is multiplied with all of them.",
       .change = "no tile that is mostly empty; nothing is read twice",
       .source = "Ernst et al. 2021",
       .supports = supports_skinny,
       .plan = plan_skinny,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::persistent,
       .idea = "Blocks stay, and the stages of shared memory run on from one small tile into the next.",
       .change =
           "batches of small products: the next one is on its way while this one is multiplied and given",
       .source = "CUTLASS, persistent kernels",
       .supports = supports_persistent,
       .plan = plan_persistent,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::wmma_naive,
       .idea = "A warp for each 16 x 16 elements of out, which its tensor core multiplies.",
       .change = "naive with 4096 multiply-adds by one instruction of a warp",
       .source = "CUDA C++ Programming Guide",
       .supports = supports_half,
       .expects = {{"shared_load_conflict_degree", 1.8, 2}}},
      {.rung = gemm_rungs::wmma_shared,
       .idea =
           "A block brings 64 x 32 of a and 32 x 64 of b into shared memory, for four warps of 32 x 32 sums.",
       .change = "an element is brought a quarter as often",
       .source = "CUDA C++ Programming Guide",
       .supports = supports_half,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::mma_sync,
       .idea =
           "Fragments by ldmatrix from swizzled shared memory; a warp has 64 x 32 sums, eight warps 128 x 128.",
       .change =
           "copies of 16 bytes, no bank is met twice, and 128 multiply-adds for each element that comes from there",
       .source = "PTX ISA, mma and ldmatrix",
       .supports = supports_chunks,
       .plan = plan_mma,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::mma_cp_async,
       .idea = "A ring of four stages: three steps are on their way while one is multiplied.",
       .change = "no thread waits for global memory, and one barrier parts two steps",
       .source = "PTX ISA, cp.async; CUTLASS",
       .supports = supports_chunks,
       .plan = plan_mma,
       .expects = {{"shared_load_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::wgmma_single,
       .idea = "TMA brings a step, and two warpgroups multiply 64 x 128 each from shared memory by wgmma.",
       .change = "no fragment goes through registers, and no thread copies",
       .source = "PTX ISA, wgmma and cp.async.bulk.tensor",
       .supports = supports_wgmma,
       .plan = plan_steps,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::wgmma_pipelined,
       .idea = "Three steps are on their way while one is multiplied.",
       .change = "wgmma_single without the wait for memory",
       .source = "PTX ISA, mbarrier",
       .supports = supports_wgmma,
       .plan = plan_steps,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::warp_specialized,
       .idea =
           "One thread asks TMA for stage after stage; two warpgroups multiply from shared memory by wgmma.",
       .change =
           "no thread that multiplies makes an address or waits for another one that multiplies; blocks stay",
       .source = "PTX ISA, wgmma; CUTLASS",
       .supports = supports_wgmma,
       .plan = plan_wgmma,
       .expects = {{"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::cluster_multicast,
       .idea =
           "Blocks of a cluster that need the same rows of a or columns of b bring them in turn, to all of these.",
       .change = "a third to three fifths less from L2",
       .source = "PTX ISA, cp.async.bulk.tensor, multicast; CUTLASS",
       .supports = supports_wgmma,
       .plan = plan_multicast,
       .expects = {{"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::cluster_split_k,
       .idea =
           "A block for each narrow tile, or for a part of its steps; parts send their sums through the cluster.",
       .change = "deeper stages, more of the multiprocessors, and fewer waits for memory one after the other",
       .source = "PTX ISA, st.async; CUTLASS, split-k",
       .supports = supports_parts,
       .plan = plan_parts,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = gemm_rungs::direct_fragments,
       .idea =
           "Up to 16 rows: the 16 bytes that a lane loads of a column of b are what it holds of two products.",
       .change = "nothing goes through shared memory, and no tile is mostly empty",
       .source = "PTX ISA, fragments of mma.m16n8k16",
       .supports = supports_direct,
       .plan = plan_direct,
       .expects = {{"shared_load_conflict_degree", 1, 2}, {"shared_store_conflict_degree", 1, 1.2}}},
      {.rung = gemm_rungs::dependent_fragments,
       .idea =
           "Blocks start while the kernel ahead still runs, and of one row their columns of b come to L2 meanwhile.",
       .change = "no pause between two kernels",
       .source = "PTX ISA, griddepcontrol",
       .supports = supports_direct,
       .plan = plan_direct,
       .expects = {{"shared_load_conflict_degree", 1, 2}, {"shared_store_conflict_degree", 1, 1.2}}},
      {.rung = gemm_rungs::swap_ab,
       .idea =
           "Up to 64 rows: columns of b are wgmma's rows, and the rows of a its columns; clusters part k.",
       .change =
           "tiles that are full, enough of them for all multiprocessors, and all of shared memory is asked for at once",
       .source = "PTX ISA, wgmma and distributed shared memory; CUTLASS",
       .supports = supports_swap,
       .plan = plan_swap,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
  };
}

std::string_view gemm_choose(const GemmArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "packed";
  const auto serves = [&](std::string_view rung) {
    return unavailable_reason(*gemm_operator().find_rung(rung), device).empty();
  };
  const Problem problem = gemm_plan::problem_of(args);
  std::string_view best = "naive";
  double microseconds = std::numeric_limits<double>::infinity();
  const auto offer = [&](std::string_view rung, std::string_view reason, auto expected) {
    if (!reason.empty() || !serves(rung)) return;
    const double rungs = expected();
    if (rungs >= microseconds) return;
    microseconds = rungs;
    best = rung;
  };
  if (is_half(args)) {
    best = serves("mma_cp_async") && supports_chunks(args, device).empty() ? "mma_cp_async" : "wmma_shared";
    const bool is_few = supports_swap(args, device).empty();
    offer("warp_specialized", supports_wgmma(args, device), [&] {
      return is_few ? gemm_plan::microseconds_of_tiles(args, device)
                    : gemm_plan::fastest_wgmma(problem, device).microseconds;
    });
    if (!is_few)
      offer("cluster_multicast", supports_wgmma(args, device),
            [&] { return gemm_plan::fastest_multicast(problem, device).microseconds; });
    if (!is_few || gemm_plan::serves_few_as_parts(args)) {
      offer("cluster_split_k", supports_parts(args, device), [&] {
        return is_few ? gemm_plan::microseconds_of_parts(args, device)
                      : gemm_plan::fastest_parts(problem, device).microseconds;
      });
    }
    offer("swap_ab", supports_swap(args, device),
          [&] { return gemm_plan::swap_cut(gemm_plan::skinny_problem_of(args), device).microseconds; });
    // Of both the same, which the first has: the other one is for GPUs that do not know it.
    for (const char* rung : {"dependent_fragments", "direct_fragments"}) {
      offer(rung, supports_direct(args, device),
            [&] { return gemm_plan::direct_cut(gemm_plan::skinny_problem_of(args)).microseconds; });
    }
    return best;
  }
  offer("stream_k", supports_tiles(args, device),
        [&] { return gemm_plan::fastest(problem, element_of(args), device).microseconds; });
  offer("cluster_k", supports_clusters(args, device),
        [&] { return gemm_plan::clustered(problem, device).microseconds; });
  offer("skinny", supports_skinny(args, device),
        [&] { return gemm_plan::skinny_microseconds(gemm_plan::skinny_problem_of(args), device); });
  offer("persistent", supports_persistent(args, device),
        [&] { return gemm_plan::persistent_microseconds(problem, device); });
  return best;
}

std::string gemm_explain(const GemmArgs& args, const DeviceProperties& device) {
  const bool is_modelled =
      !is_half(args) || unavailable_reason(*gemm_operator().find_rung("warp_specialized"), device).empty();
  return is_modelled ? gemm_plan::explain(args, device) : "";
}

}  // namespace rooftile
