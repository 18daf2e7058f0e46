// What is read once need not be kept.
//
// Idea       loads that leave L1 alone (ld.global.nc.L1::no_allocate), by as many blocks per row as fill the
//            GPU.
// Change     the load; every operation and dtype; and rows of a matrix, each finished by the last of its own
//            blocks.
// Limits     rows of contiguous elements: the last axis, or all elements as a single row.
// Bottleneck DRAM.
// Source     PTX ISA, ld.global.nc.L1::no_allocate.
#include "rooftile/ops/reduce/reduce_rows.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_reduction(call.args, [&]<class Reduction>(const Reduction& reduction) {
    const auto& cut = call.config<reduce_plan::Cut>();
    return launch_reduce_rows<LoadPolicy::no_allocate>(
        reduction, call.stream, cut, static_cast<const typename Reduction::In*>(call.args.in.data),
        make_output(call.args, cut.shape.reduced), call.workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
