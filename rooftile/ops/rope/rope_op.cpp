#include <string>
#include <string_view>
#include <vector>

#include "rooftile/core/describe.h"
#include "rooftile/core/registry.h"
#include "rooftile/ops/rope/rope_plan.h"
#include "rooftile/ops/rope/rungs.h"

namespace rooftile {
namespace {

using namespace rope_plan;

Status spec_of_k(const RopeArgs& args, TensorSpec& spec) {
  spec = {args.q.dtype, is_absent(args.k) ? Extents{0} : args.k.shape};
  return {};
}

Status check(const RopeArgs& args) {
  const std::int64_t width = args.q.shape[3];
  if (!is_absent(args.k)) {
    if (args.k.shape[0] != args.q.shape[0] || args.k.shape[1] != args.q.shape[1] || args.k.shape[3] != width)
      return invalid_argument("k must have the batches, tokens and head width of q: " +
                              args.q.shape.to_string());
    if (is_absent(args.k_out)) return invalid_argument("k_out must be there where k is");
  }
  if (!is_absent(args.positions)) {
    const Extents& shape = args.positions.shape;
    const bool fits = shape.rank() == 1 ? shape[0] == args.q.shape[1]
                                        : shape[0] == args.q.shape[0] && shape[1] == args.q.shape[1];
    if (!fits) return invalid_argument("positions must have one for each token of q: [b, s] or [s]");
  }
  const std::int64_t rotary = args.rotary == 0 ? width : args.rotary;
  if (rotary > width || rotary % 2 != 0) {
    return invalid_argument("rotary is " + std::to_string(rotary) +
                            ": it must be even, and at most the head's " + std::to_string(width) +
                            " elements");
  }
  if (width > kMostHeadElements)
    return unsupported("heads of more than " + std::to_string(kMostHeadElements) + " elements");
  if (args.scaling == RopeScaling::llama3 && !(args.low_frequency < args.high_frequency))
    return invalid_argument("low_frequency must be below high_frequency");
  return {};
}

std::string_view supports_vectors(const RopeArgs& args, const DeviceProperties&) {
  return has_vectors(args, cut_of(args))
             ? ""
             : "needs heads without gaps that begin at multiples of 16 bytes, and whole vectors of pairs: see "
               "sincos_on_the_fly";
}

RungPlan plan_cut(const RopeArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(cut_of(args))};
}
RungPlan plan_table(const RopeArgs& args, const DeviceProperties&) {
  const Cut cut = cut_of(args);
  constexpr std::int64_t kAngleBytes = 8;
  return {
      .workspace = {.bytes = static_cast<std::size_t>(cut.batches * cut.tokens * cut.pairs() * kAngleBytes)},
      .config = PlanConfig::of(cut)};
}

// A thread of sincos_on_the_fly has all heads of its token: too few threads for few tokens.
std::string_view choose(const RopeArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (supports_vectors(args, device).empty()) return "vectorized_qk";
  constexpr std::int64_t kThreadsWanted = 1024;
  const Cut cut = cut_of(args);
  const bool is_enough =
      cut.batches * cut.tokens * (cut.width + 1) / 2 >= kThreadsWanted * device.multiprocessors;
  return is_enough ? "sincos_on_the_fly" : "table_constant_memory";
}

std::vector<Rung<RopeArgs>> rung_table() {
  return {
      {.rung = rope_rungs::serial,
       .idea = "A loop over tokens, heads and pairs: the definition.",
       .change = "the start of the CPU climb; in double"},
      {.rung = rope_rungs::threaded, .idea = "Every core has tokens.", .change = "all cores"},
      {.rung = rope_rungs::table_constant_memory,
       .idea = "A thread for each pair of each head; frequencies in constant memory.",
       .change = "the start of the GPU climb; any strides",
       .plan = plan_cut,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = rope_rungs::table_global,
       .idea = "A first kernel makes the sines of every token, a second one turns.",
       .change = "an angle is made once for all heads",
       .plan = plan_table,
       .expects = {{"global_load_sectors_per_request", 5, 6}}},
      {.rung = rope_rungs::sincos_on_the_fly,
       .idea = "A thread makes its angle once and turns its pair of every head.",
       .change = "no table: angles stay in registers",
       .plan = plan_cut,
       .expects = {{"global_load_sectors_per_request", 3.9, 4}}},
      {.rung = rope_rungs::vectorized_qk,
       .idea =
           "A thread has vectors of pairs at one place of several heads of q and k, half of them on their way at once.",
       .change = "16 bytes for each load and store",
       .supports = supports_vectors,
       .plan = plan_cut,
       .expects = {{"global_load_sectors_per_request", 15, 16}, {"bytes_moved_over_needed", 1, 1.05}}},
  };
}

}  // namespace

const OperatorDescriptor& rope_operator() {
  static const OperatorDescriptor op = describe<RopeArgs>(
      {.name = "rope",
       .summary = "rotary position embedding of q and k in one launch; its inverse is the way back",
       .maths =
           "(a, b) -> (a cos - b sin, b cos + a sin) of position * frequency[i], frequency[i] = base^(-2 i / rotary).",
       .model = "reads every element once and writes it once: bound by memory.",
       .source = "Su et al., RoFormer (2021); Dubey et al., The Llama 3 Herd of Models (2024)",
       .slots = {in("q", &RopeArgs::q,
                    {.dtypes = {DType::f32, DType::f16, DType::bf16},
                     .min_rank = 4,
                     .max_rank = 4,
                     .doc = "[b, s, h, d]"}),
                 in("k", &RopeArgs::k,
                    {.dtype_of = "q",
                     .min_rank = 4,
                     .max_rank = 4,
                     .optional = true,
                     .doc = "[b, s, heads of k, d]"}),
                 in("positions", &RopeArgs::positions,
                    {.dtypes = {DType::i32, DType::i64},
                     .min_rank = 1,
                     .max_rank = 2,
                     .optional = true,
                     .doc = "[b, s] or [s]; without them 0 to s - 1"}),
                 out("q_out", &RopeArgs::q_out,
                     {.dtype_of = "q", .shape_of = "q", .may_alias = "q", .doc = "q, turned"}),
                 out("k_out", &RopeArgs::k_out, spec_of_k,
                     {.dtype_of = "q", .optional = true, .may_alias = "k", .doc = "k, turned"})},
       .params = {param("form", &RopeArgs::form, {.doc = "which elements are a pair"}),
                  param("rotary", &RopeArgs::rotary,
                        {.doc = "elements of a head that are turned, 0: all",
                         .minimum = 0,
                         .maximum = kMostHeadElements}),
                  param("base", &RopeArgs::base,
                        {.doc = "of the frequencies", .minimum = 1, .maximum = 1e12}),
                  param("scaling", &RopeArgs::scaling, {.doc = "of the frequencies, for longer sequences"}),
                  param("factor", &RopeArgs::factor, {.doc = "of scaling", .minimum = 1e-6, .maximum = 1e6}),
                  param("low_frequency", &RopeArgs::low_frequency,
                        {.doc = "llama3: turns within original below which frequencies are divided",
                         .minimum = 0,
                         .maximum = 1e6}),
                  param("high_frequency", &RopeArgs::high_frequency,
                        {.doc = "llama3: turns above which they are kept", .minimum = 0, .maximum = 1e6}),
                  param("original", &RopeArgs::original,
                        {.doc = "llama3: positions of the training", .minimum = 1, .maximum = 1e12}),
                  param("inverse", &RopeArgs::inverse, {.doc = "by the opposite angles: the way back"}),
                  case_param<RopeArgs>("kv",
                                       {.doc = "heads of k; none: no k", .minimum = 0, .maximum = 1024}),
                  case_param<RopeArgs>(
                      "given",
                      {.doc = "positions: 1: [s] of i32, 2: [b, s] of i64, 3: [s] of i64, 4: [b, s] of i32",
                       .minimum = 1,
                       .maximum = 4}),
                  case_param<RopeArgs>(
                      "pad", {.doc = "elements between tokens of q and k", .minimum = 0, .maximum = 1e6})},
       .check = check,
       .choose = choose,
       .rungs = rung_table()});
  return op;
}

ROOFTILE_ENTRY_POINTS_OF_2(rope, RopeArgs, q)

}  // namespace rooftile
