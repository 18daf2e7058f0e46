// The last block finishes.
//
// Idea       every block writes its partial result and takes a ticket; the block with the last ticket
//            combines the partial results, always in the same order.
// Change     a ticket and two fences in place of the second launch.
// Limits     sum and max of f32, all elements; one run at a time per workspace (the tickets are part of it).
// Bottleneck DRAM for large inputs; one launch and one round trip for small ones.
// Source     CUDA sample threadFenceReduction.
#include "rooftile/ops/reduce/reduce_rows.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Reduction>(const Reduction& reduction) {
    const auto& cut = call.config<reduce_plan::Cut>();
    return launch_reduce_rows<LoadPolicy::cached>(
        reduction, call.stream, cut, static_cast<const typename Reduction::In*>(call.args.in.data),
        make_output(call.args, cut.shape.reduced), call.workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
