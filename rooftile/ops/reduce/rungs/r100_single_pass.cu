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
    const std::int64_t n = call.args.in.numel();
    return launch_reduce_rows<LoadPolicy::cached>(
        reduction, call.stream, call.device, static_cast<const typename Reduction::In*>(call.args.in.data), 1,
        n, make_output(call.args, n), call.workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
