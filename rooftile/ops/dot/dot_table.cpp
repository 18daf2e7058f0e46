#include "rooftile/ops/dot/dot_table.h"

#include <cstdint>

#include "rooftile/ops/dot/dot_plan.h"
#include "rooftile/ops/dot/rungs.h"

namespace rooftile {
namespace {

using dot_plan::Cut;

std::string_view supports_dense(const DotArgs& args, const DeviceProperties&) {
  return dot_plan::has_gaps(args) ? "needs vectors without gaps: see strided" : "";
}

std::string_view supports_half(const DotArgs& args, const DeviceProperties& device) {
  const bool is_half = args.a.dtype == DType::f16 || args.a.dtype == DType::bf16;
  if (!is_half || dot_plan::compute_dtype(args) != args.a.dtype)
    return "a lesson rung: serves f16 and bf16 where compute_dtype is the same";
  return supports_dense(args, device);
}

std::string_view supports_half2(const DotArgs& args, const DeviceProperties& device) {
  const auto bits =
      reinterpret_cast<std::uintptr_t>(args.a.data) | reinterpret_cast<std::uintptr_t>(args.b.data);
  if (bits % 4 != 0) return "needs pairs of elements at 4 bytes: see fast_atomic_add";
  return supports_half(args, device);
}

RungPlan plan_lesson(const DotArgs& args, const DeviceProperties& device) {
  return {.workspace = {.zeroed_bytes = dot_plan::kLessonSums},
          .config = PlanConfig::of(Cut{.blocks = dot_plan::lesson_blocks(args.a.numel(), device)})};
}

// A partial sum per block, and a ticket.
RungPlan plan_partials(const DotArgs& args, const Cut& cut) {
  RungPlan plan{.config = PlanConfig::of(cut)};
  if (cut.blocks > 1) {
    const DType accumulator = dot_plan::compute_dtype(args) == DType::f64 ? DType::f64 : DType::f32;
    plan.workspace = {.bytes = static_cast<std::size_t>(cut.blocks) * size_of(accumulator),
                      .zeroed_bytes = sizeof(std::uint32_t)};
  }
  return plan;
}

RungPlan plan_pass(const DotArgs& args, const DeviceProperties& device) {
  return plan_partials(args, dot_plan::cut_pass(args, device));
}

RungPlan plan_ring(const DotArgs& args, const DeviceProperties& device) {
  return plan_partials(args, dot_plan::cut_ring(args, device));
}

RungPlan plan_strided(const DotArgs& args, const DeviceProperties& device) {
  return plan_partials(args, {.blocks = dot_plan::lesson_blocks(args.a.numel(), device)});
}

}  // namespace

std::vector<Rung<DotArgs>> dot_rung_table() {
  return {
      {.rung = dot_rungs::serial,
       .idea = "One loop, one accumulator: the definition.",
       .change =
           "the start of the CPU climb; in double (f64 in long double), or a long chain would round off its result"},
      {.rung = dot_rungs::threaded,
       .idea =
           "Independent accumulators break the chain of additions, and every core sums up a part of its own.",
       .change = "16 accumulators per thread, a fixed tree over chunks of 16 Ki elements"},
      {.rung = dot_rungs::half_atomics,
       .idea = "Every thread sums up its products in 16 bits and adds the sum to the result.",
       .change = "the start of the GPU climb; the error column says what 16 bits cost",
       .determinism = Determinism::not_guaranteed,
       .supports = supports_half,
       .plan = plan_lesson,
       .expects = {{"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = dot_rungs::half2_pack_atomics,
       .idea = "Pairs of elements: one load, one multiply-add and one native atomic for two sums.",
       .change = "two sums side by side, which the last block adds",
       .determinism = Determinism::not_guaranteed,
       .supports = supports_half2,
       .plan = plan_lesson,
       .expects = {{"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = dot_rungs::fast_atomic_add,
       .idea =
           "A single 16-bit sum is added by the native atomic of 32 bits that holds it, -0 to its neighbour.",
       .change = "the atomic alone: no loop of compare-and-swap, wherever the sum lies",
       .source = "PyTorch, fastAtomicAdd",
       .determinism = Determinism::not_guaranteed,
       .supports = supports_half,
       .plan = plan_lesson,
       .expects = {{"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = dot_rungs::block_reduce_atomics,
       .idea = "Accumulate in 32 bits, meet in the block, and let one thread of it add to the result.",
       .change = "256 times fewer atomics, and a result that can be believed",
       .determinism = Determinism::not_guaranteed,
       .supports = supports_dense,
       .plan = plan_lesson,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = dot_rungs::single_pass,
       .idea =
           "16-byte loads, several on their way before the first product; the warp that comes last adds up the "
           "partial sums in the order of the blocks.",
       .change = "no atomic touches a sum: every run gives the same bits",
       .source = "CUDA sample threadFenceReduction",
       .supports = supports_dense,
       .plan = plan_pass,
       .expects = {{"global_load_sectors_per_request", 15.5, 16}, {"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = dot_rungs::strided,
       .idea = "Addresses computed from the index serve any strides.",
       .change = "serves what single_pass does not, one element at a time",
       .plan = plan_strided,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}, {"bytes_moved_over_needed", 1, 1.01}}},
      {.rung = dot_rungs::bulk_ring,
       .idea = "One thread asks for 16 KiB of each input by bulk copies into a ring of shared memory.",
       .change = "192 KiB per SM on the way at every moment, where loads into registers drain in between",
       .source = "PTX ISA, cp.async.bulk",
       .supports = supports_dense,
       .plan = plan_ring,
       .expects = {{"shared_load_conflict_degree", 1, 1}, {"bytes_moved_over_needed", 1, 1.02}}},
  };
}

std::string_view dot_choose(const DotArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (dot_plan::has_gaps(args)) return "strided";
  const bool is_large =
      args.a.numel() * static_cast<std::int64_t>(size_of(args.a.dtype)) >= dot_plan::kRingFromBytes;
  const bool has_ring =
      is_large && unavailable_reason(*dot_operator().find_rung("bulk_ring"), device).empty();
  return has_ring ? "bulk_ring" : "single_pass";
}

}  // namespace rooftile
