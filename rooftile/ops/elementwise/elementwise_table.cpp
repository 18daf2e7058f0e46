#include "rooftile/ops/elementwise/elementwise_table.h"

#include <algorithm>

#include "rooftile/ops/elementwise/elementwise_program.h"
#include "rooftile/ops/elementwise/rungs.h"

namespace rooftile {
namespace {

using elementwise_program::inputs_of;
using elementwise_program::plan_of;

// All tensors are alike, and of a dtype that functions are compiled for.
bool has_climb_dtype(const ElementwiseArgs& args) {
  const DType dtype = args.out.dtype;
  const elementwise_program::Inputs inputs = inputs_of(args);
  return (dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16) &&
         std::all_of(inputs.span().begin(), inputs.span().end(),
                     [&](const ConstTensorView& view) { return view.dtype == dtype; });
}

std::string_view supports_typed(const ElementwiseArgs& args, const DeviceProperties&) {
  if (args.op.size() != 1) return "serves one function: see fused_chain";
  if (args.op[0] == ElementwiseOp::cast) {
    if (!elementwise_program::is_usual_cast(args.a.dtype, args.out.dtype))
      return "not compiled for this cast: see fused_chain";
  } else if (!has_climb_dtype(args)) {
    return "serves tensors of one dtype, f32, f16 or bf16: see fused_chain";
  }
  return elementwise_program::is_one_row(plan_of(args, elementwise_layout::kVectorBytes).layout)
             ? ""
             : "needs tensors of one shape without gaps: see fused_chain";
}

std::string_view supports_lesson(const ElementwiseArgs& args, const DeviceProperties& device) {
  const ElementwiseOp op = args.op[0];
  if (op != ElementwiseOp::add && op != ElementwiseOp::mul && op != ElementwiseOp::gelu_tanh)
    return "a lesson rung: serves add, mul and gelu_tanh";
  return supports_typed(args, device);
}

std::string_view supports_compiled(const ElementwiseArgs& args, const DeviceProperties&) {
  if (!elementwise_program::is_usual_chain(args.op)) return "not compiled for this chain: see fused_chain";
  return has_climb_dtype(args) ? "" : "serves tensors of one dtype, f32, f16 or bf16: see fused_chain";
}

std::string_view supports_unfused(const ElementwiseArgs& args, const DeviceProperties&) {
  if (args.op.size() < 2) return "a lesson rung: serves chains of two functions or more";
  const elementwise_program::Inputs inputs = inputs_of(args);
  const auto plain = [&](const ConstTensorView& view) {
    return view.dtype == DType::f32 && view.contiguous() && view.shape == args.out.shape;
  };
  if (!std::all_of(inputs.span().begin(), inputs.span().end(), plain) || !plain(args.out))
    return "a lesson rung: serves f32 tensors without gaps, all of one shape";
  return "";
}

RungPlan plan_packs(const ElementwiseArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(plan_of(args, elementwise_layout::kVectorBytes))};
}
RungPlan plan_chain(const ElementwiseArgs& args, const DeviceProperties&) {
  return {.config = PlanConfig::of(plan_of(args, elementwise_program::kMostChainPack))};
}

std::string_view supports_unrolled(const ElementwiseArgs& args, const DeviceProperties& device) {
  const std::string_view reason = supports_lesson(args, device);
  if (!reason.empty()) return reason;
  return plan_of(args, elementwise_layout::kVectorBytes).layout.aligned()
             ? ""
             : "needs tensors that are aligned alike";
}

// An intermediate result as large as out.
RungPlan plan_unfused(const ElementwiseArgs& args, const DeviceProperties&) {
  return {.workspace = {.bytes = static_cast<std::size_t>(args.out.numel()) * sizeof(float)}};
}

// Four sectors of 32 bytes in a request of 4-byte elements; 16 where each lane asks for 16 bytes.
std::vector<AccessExpectation> sectors_of(double sectors) {
  return {{"global_load_sectors_per_request", sectors, sectors}, {"bytes_moved_over_needed", 1, 1}};
}

}  // namespace

std::vector<Rung<ElementwiseArgs>> elementwise_rung_table() {
  return {
      {.rung = elementwise_rungs::serial,
       .idea = "Every element through the whole chain: the definition.",
       .change = "the start of the CPU climb",
       .plan = plan_chain},
      {.rung = elementwise_rungs::threaded,
       .idea = "A loop per function over stretches that stay in the first cache, stretches for all cores.",
       .change = "loops that the compiler vectorises, and all cores",
       .plan = plan_chain},
      {.rung = elementwise_rungs::scalar,
       .idea = "A thread per element: neighbouring lanes touch neighbouring elements.",
       .change = "the start of the GPU climb",
       .source = "the definition",
       .supports = supports_lesson,
       .expects = sectors_of(4)},
      {.rung = elementwise_rungs::vectorized,
       .idea = "Packs of 16 bytes: fewer requests for the same bytes, two 16-bit floats per instruction.",
       .change = "a pack per thread in place of an element; packs begin at a line of out",
       .source = "CUDA C++ Programming Guide; OneFlow's elementwise template",
       .supports = supports_typed,
       .plan = plan_packs,
       .expects = sectors_of(16)},
      {.rung = elementwise_rungs::vectorized_unrolled,
       .idea = "Several packs of each thread are on their way before the first is used.",
       .change = "four packs per thread in place of one",
       .source = "Volkov, Better Performance at Lower Occupancy (2010)",
       .supports = supports_unrolled,
       .plan = plan_packs,
       .expects = sectors_of(16)},
      {.rung = elementwise_rungs::unfused_chain,
       .idea = "A launch per function, as a framework without fusion: results in between go through memory.",
       .change = "chains, one function at a time",
       .supports = supports_unfused,
       .plan = plan_unfused,
       .expects = {{"global_load_sectors_per_request", 14, 16}, {"bytes_moved_over_needed", 1.5, 4}}},
      {.rung = elementwise_rungs::fused_chain,
       .idea =
           "An interpreter in registers: any chain, any dtypes, any strides, each element read and written once.",
       .change = "one launch for the chain; the function is data",
       .source = "PyTorch's NNC and inductor, for what fusion saves",
       .plan = plan_chain,
       .expects = {{"bytes_moved_over_needed", 1, 1}}},
      {.rung = elementwise_rungs::compiled_chain,
       .idea = "Bias and activation, gates, scale and shift: the usual chains as functors, with broadcasts.",
       .change = "the function is code again: nothing is interpreted",
       .source = "what fusing compilers emit",
       .supports = supports_compiled,
       .plan = plan_packs,
       .expects = {{"bytes_moved_over_needed", 1, 1}}},
  };
}

std::string_view elementwise_choose(const ElementwiseArgs& args, const DeviceProperties& device) {
  if (device.device.kind == DeviceKind::cpu) return "threaded";
  if (supports_typed(args, device).empty()) return "vectorized";
  return supports_compiled(args, device).empty() ? "compiled_chain" : "fused_chain";
}

}  // namespace rooftile
