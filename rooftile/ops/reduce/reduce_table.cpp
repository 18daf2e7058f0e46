#include "rooftile/ops/reduce/reduce_table.h"

#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/rungs.h"

namespace rooftile {
namespace {

using reduce_plan::Cut;
using reduce_plan::Geometry;
using reduce_plan::Pattern;

// The lesson rungs are compiled for one dtype: the lesson is the access pattern, not the type.
std::string_view supports_lesson(const ReduceArgs& args, const DeviceProperties&) {
  if (args.in.dtype != DType::f32 || args.out.dtype != DType::f32) return "a lesson rung: serves f32 only";
  if (args.op != ReduceOp::sum && args.op != ReduceOp::max) return "a lesson rung: serves sum and max only";
  if (reduce_plan::geometry(args).pattern != Pattern::all)
    return "reduces all elements of a contiguous tensor only";
  return "";
}

std::string_view supports_ring(const ReduceArgs& args, const DeviceProperties&) {
  if (reduce_plan::geometry(args).pattern != Pattern::all)
    return "reduces all elements of a contiguous tensor only";
  const bool has_index = args.op == ReduceOp::argmin || args.op == ReduceOp::argmax;
  return has_index
             ? "serves operations whose result is a value only: an index beside each is bound by instructions"
             : "";
}

std::string_view supports_rows(const ReduceArgs& args, const DeviceProperties&) {
  const Pattern pattern = reduce_plan::geometry(args).pattern;
  return pattern == Pattern::all || pattern == Pattern::rows ? "" : "reduces contiguous rows only";
}

std::string_view supports_wave(const ReduceArgs& args, const DeviceProperties& device) {
  return reduce_plan::serves_single_wave(args, device)
             ? ""
             : "reduces all elements of a 16-byte aligned contiguous tensor of at most 128 KiB per SM "
               "(comparisons: 64) only";
}

// A single warp for one long row would take forever and shows nothing.
std::string_view supports_warp_rows(const ReduceArgs& args, const DeviceProperties&) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 20;
  const Geometry shape = reduce_plan::geometry(args);
  if (shape.pattern != Pattern::all && shape.pattern != Pattern::rows) return "reduces contiguous rows only";
  return shape.reduced <= kLongest ? "" : "a warp per row: serves rows up to 2^20 elements";
}

std::string_view supports_columns(const ReduceArgs& args, const DeviceProperties&) {
  if (reduce_plan::geometry(args).pattern != Pattern::columns)
    return "reduces an axis that is not the last only";
  return reduce_plan::serves_column_tiles(args) ? "" : "needs 16-byte aligned rows: see strided_gather";
}

std::string_view supports_cpu_lesson(const ReduceArgs& args, const DeviceProperties&) {
  return args.in.dtype == DType::f32 ? "" : "a lesson rung: serves f32 only";
}

// One block per output at least: a whole large tensor by a single block would take forever and shows nothing.
std::string_view supports_gather(const ReduceArgs& args, const DeviceProperties&) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 24;
  const Geometry shape = reduce_plan::geometry(args);
  if (shape.pattern == Pattern::strided || shape.reduced <= kLongest) return "";
  return "a block per output: serves contiguous tensors up to 2^24 elements per output";
}

RungPlan plan_passes(const ReduceArgs& args, const DeviceProperties&) {
  // Two buffers in turn: the second pass reads what the first wrote.
  const std::int64_t first = reduce_plan::pass_blocks(args.in.numel());
  const std::int64_t second = reduce_plan::pass_blocks(first);
  return {.workspace = {.bytes = static_cast<std::size_t>(first + second) * size_of(args.out.dtype)}};
}

// The partial results of `shares` outputs, each by so many blocks, and a ticket for each output.
WorkspaceSpec shared_workspace(std::int64_t shares, std::int64_t blocks,
                               std::int64_t partials_per_block = 1) {
  if (blocks == 1) return {};
  const std::int64_t partials = shares * blocks * partials_per_block;
  return {.bytes = static_cast<std::size_t>(partials * reduce_plan::kAccumulatorBytes),
          .zeroed_bytes = static_cast<std::size_t>(shares) * sizeof(std::uint32_t)};
}

RungPlan plan_shape(const ReduceArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(Cut{.shape = reduce_plan::geometry(args)})};
}

RungPlan plan_rows(const ReduceArgs& args, const DeviceProperties& device) {
  const Geometry shape = reduce_plan::geometry(args);
  const std::int64_t row_bytes = shape.reduced * static_cast<std::int64_t>(size_of(args.in.dtype));
  const reduce_plan::RowSplit split = reduce_plan::split_row(shape.outer, row_bytes, device);
  return {.workspace = shared_workspace(shape.outer, split.parts),
          .config = PlanConfig::of(Cut{.shape = shape, .blocks = split.parts, .loads = split.loads})};
}

RungPlan plan_ring(const ReduceArgs& args, const DeviceProperties& device) {
  const std::int64_t bytes = args.in.numel() * static_cast<std::int64_t>(size_of(args.in.dtype));
  const std::int64_t blocks = reduce_plan::ring_blocks(bytes, device);
  return {.workspace = shared_workspace(1, blocks),
          .config = PlanConfig::of(Cut{.shape = reduce_plan::geometry(args), .blocks = blocks})};
}

RungPlan plan_wave(const ReduceArgs& args, const DeviceProperties& device) {
  const std::int64_t bytes = args.in.numel() * static_cast<std::int64_t>(size_of(args.in.dtype));
  const reduce_plan::WaveSplit split = reduce_plan::split_wave(bytes / reduce_plan::kVectorBytes, device);
  return {.workspace = shared_workspace(1, split.blocks),
          .config = PlanConfig::of(
              Cut{.shape = reduce_plan::geometry(args), .blocks = split.blocks, .loads = split.loads})};
}

RungPlan plan_columns(const ReduceArgs& args, const DeviceProperties& device) {
  const Geometry shape = reduce_plan::geometry(args);
  const std::size_t size = size_of(args.in.dtype);
  const std::int64_t tiles = shape.outer * reduce_plan::column_tiles(shape.inner, size);
  const std::int64_t parts = reduce_plan::column_parts(tiles, shape.reduced, device);
  const std::int64_t columns = std::int64_t{32} * reduce_plan::kVectorBytes / static_cast<std::int64_t>(size);
  return {.workspace = shared_workspace(tiles, parts, columns),
          .config = PlanConfig::of(Cut{.shape = shape, .blocks = parts})};
}

std::vector<Rung<ReduceArgs>> cpu_rungs() {
  return {
      {.rung = reduce_rungs::serial,
       .idea = "One loop, one accumulator: the definition, and what a sum costs when every addition waits "
               "for the one "
               "before.",
       .change = "the start of the CPU climb; floats accumulate in double, or a long chain would round off "
                 "its result",
       .supports = supports_cpu_lesson},
      {.rung = reduce_rungs::pairwise,
       .idea =
           "A tree of halves keeps every addition between numbers of like size: single precision suffices.",
       .change = "log2 n additions deep in place of n, in the accumulator that the GPU uses",
       .source = "Higham, The Accuracy of Floating Point Summation (1993)",
       .supports = supports_cpu_lesson},
      {.rung = reduce_rungs::threaded,
       .idea =
           "Independent accumulators break the chain of additions, and every core reduces a part of its own.",
       .change = "16 accumulators per thread, a fixed tree over chunks of 16 Ki elements"},
  };
}

// 16 bytes per lane, every byte of the input once.
std::vector<AccessExpectation> vector_loads() {
  return {{"global_load_sectors_per_request", 15.9, 16}, {"bytes_moved_over_needed", 1, 1.01}};
}

std::vector<Rung<ReduceArgs>> lesson_rungs() {
  std::vector<Rung<ReduceArgs>> rungs = {
      {.rung = reduce_rungs::interleaved_divergent,
       .idea = "A tree in shared memory: neighbours combine first, chosen by a modulo on the thread index.",
       .change = "the start of the GPU climb; one element per thread, passes of 256 to 1",
       .source = "Harris 2007, kernel 1",
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"active_lanes_per_request", 7, 9}}},
      {.rung = reduce_rungs::interleaved_strided,
       .idea = "The first threads take the pairs, so that the active ones fill whole warps.",
       .change = "the pair's place is computed from the thread in place of testing the thread; bank "
                 "conflicts are the "
                 "price",
       .source = "Harris 2007, kernel 2",
       .expects = {{"shared_load_conflict_degree", 3, 4}, {"active_lanes_per_request", 23, 24}}},
      {.rung = reduce_rungs::sequential_addressing,
       .idea = "Neighbouring lanes read neighbouring words: no two meet in a bank.",
       .change = "the stride halves in place of doubling",
       .source = "Harris 2007, kernel 3",
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"shared_store_conflict_degree", 1, 1}}},
      {.rung = reduce_rungs::add_on_load,
       .idea = "No thread only loads: every one combines two elements on their way to shared memory.",
       .change = "half the blocks; the first step of the tree happens in registers",
       .source = "Harris 2007, kernel 4",
       .expects = {{"global_load_sectors_per_request", 3.9, 4}, {"bytes_moved_over_needed", 1, 1.03}}},
      {.rung = reduce_rungs::unroll_last_warp,
       .idea = "The last 64 values concern one warp alone: it needs no block-wide barrier.",
       .change = "6 of 8 __syncthreads become __syncwarp of one warp; the other warps retire",
       .source = "Harris 2007, kernel 5, with the synchronisation that Volta and newer need",
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"active_lanes_per_request", 30, 32}}},
      {.rung = reduce_rungs::full_unroll,
       .idea = "A tree over a block size known at compile time needs neither loop counter nor branch.",
       .change = "unrolled constant strides in place of a loop",
       .source = "Harris 2007, kernel 6",
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"active_lanes_per_request", 30, 32}}},
      {.rung = reduce_rungs::multiple_adds,
       .idea = "A thread adds many elements in a register before it enters the tree once.",
       .change = "a resident grid that strides over the input in place of two elements per thread",
       .source = "Harris 2007, kernel 7",
       .expects = {{"global_load_sectors_per_request", 3.9, 4}, {"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = reduce_rungs::warp_shuffle,
       .idea = "The lanes of a warp pass values register to register: shared memory and barriers are left "
               "for one "
               "value per warp.",
       .change = "5 shuffles per warp and one barrier in place of 8 trips through shared memory",
       .source = "Luitjens 2014",
       .expects = {{"shared_store_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = reduce_rungs::vectorized,
       .idea = "Bytes in flight decide: 16-byte loads, eight of them independent per thread, by a grid that "
               "fills the "
               "GPU once and strides over the input.",
       .change = "128 bytes requested per thread before the first addition, against 4",
       .expects = vector_loads()},
  };
  for (Rung<ReduceArgs>& rung : rungs) {
    rung.supports = supports_lesson;
    rung.plan = plan_passes;
  }
  return rungs;
}

std::vector<Rung<ReduceArgs>> full_rungs() {
  return {
      {.rung = reduce_rungs::single_pass,
       .idea = "The block that finishes last, found by a counter, reduces the partial results: one launch, "
               "and still a "
               "fixed order of additions.",
       .change = "a ticket and two fences in place of the second launch",
       .source = "CUDA sample threadFenceReduction",
       .supports = supports_lesson,
       .plan = plan_rows,
       .expects = vector_loads()},
      {.rung = reduce_rungs::no_allocate_loads,
       .idea = "What is read once need not be kept: loads that leave L1 alone, by as many blocks per row as "
               "fill the "
               "GPU.",
       .change =
           "ld.global.nc.L1::no_allocate; every operation and dtype; rows of a matrix, each finished by its "
           "last block",
       .source = "PTX ISA, ld",
       .supports = supports_rows,
       .plan = plan_rows,
       .expects = vector_loads()},
      {.rung = reduce_rungs::single_wave,
       .idea =
           "A small input pays for the code before it pays for the data: straight-line code that runs once, "
           "everything in flight at once, and a single warp to finish.",
       .change =
           "no loop over tiles, no unaligned head, one block per SM at most; the other warps leave early",
       .supports = supports_wave,
       .plan = plan_wave,
       .expects = {{"global_load_sectors_per_request", 15.8, 16}, {"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = reduce_rungs::warp_per_row,
       .idea = "Short rows need no block: a warp takes one with eight loads per lane in flight and one "
               "butterfly.",
       .change = "a warp in place of a block per row: no shared memory, no barrier",
       .supports = supports_warp_rows,
       .plan = plan_shape,
       .expects = vector_loads()},
      {.rung = reduce_rungs::column_tiles,
       .idea = "Lanes stand side by side along the contiguous axis and walk along the reduced one: every "
               "access is "
               "coalesced.",
       .change = "an accumulator per column of a lane's vector; the reduced axis is split over blocks",
       .supports = supports_columns,
       .plan = plan_columns,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, 1.1}}},
      {.rung = reduce_rungs::strided_gather,
       .idea =
           "Addresses computed from the index serve any strides, a thread per output where there are many.",
       .change = "serves what no other rung does, one element at a time",
       .supports = supports_gather,
       .plan = plan_shape,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = reduce_rungs::bulk_ring,
       .idea = "The copy engine keeps the bytes in flight: one thread asks for 32 KiB at a time, the others "
               "only add.",
       .change = "bulk copies into a ring of shared memory in place of loads into registers, which drain "
                 "before the "
                 "next are issued",
       .source = "PTX ISA, cp.async.bulk",
       .supports = supports_ring,
       .plan = plan_ring,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, 1.01}}},
  };
}

}  // namespace

std::vector<Rung<ReduceArgs>> reduce_rung_table() {
  std::vector<Rung<ReduceArgs>> table = cpu_rungs();
  for (Rung<ReduceArgs>& rung : lesson_rungs()) table.push_back(std::move(rung));
  for (Rung<ReduceArgs>& rung : full_rungs()) table.push_back(std::move(rung));
  return table;
}

}  // namespace rooftile
