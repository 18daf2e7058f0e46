// A chain as a framework without fusion runs it: a launch per function, every intermediate result through memory.
//
// Idea       the lesson of the chain bias, gelu, gate: three launches and ten passes over memory in place of one launch and
//            four (fused_chain).
// Limits     chains of two functions or more over f32 tensors without gaps, all of one shape.
// Bottleneck DRAM: an intermediate result is written and read again.
#include "rooftile/ops/elementwise/rungs/chain_body.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {
namespace {

constexpr auto launch_step = launch_chain<float, 4, 2, elementwise_engine::Reach::row>;

}  // namespace

Status ROOFTILE_RUNG(const Call<ElementwiseArgs>& call) {
  const ElementwiseArgs& args = call.args;
  const Program whole = elementwise_program::program_of(args);
  const ConstTensorView rest[] = {args.b, args.c};
  TensorView between = args.out;
  between.data = call.workspace.data;
  ElementwiseArgs step = args;
  std::size_t next = 0;
  for (int i = 0; i < whole.count; ++i) {
    const ElementwiseOp op = whole.ops[static_cast<std::size_t>(i)];
    step.op = op;
    step.a = i == 0 ? args.a : ConstTensorView(between);
    step.b = elementwise_arguments(op) > 1 ? rest[next++] : ConstTensorView();
    step.c = elementwise_arguments(op) > 2 ? rest[next++] : ConstTensorView();
    step.out = i + 1 == whole.count ? args.out : between;
    ROOFTILE_TRY(launch_step(step, elementwise_program::plan_of(step, elementwise_program::kMostChainPack),
                             call.stream, call.device.multiprocessors));
  }
  return {};
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
