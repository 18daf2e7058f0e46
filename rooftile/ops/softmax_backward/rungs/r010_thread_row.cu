// A thread for a row: the definition.
//
// Idea       a walk for the sum, a walk for the results.
// Limits     rows of at most 16384 elements.
// Bottleneck a warp's lanes are a row apart: 32 sectors for each load.
#include "rooftile/ops/softmax_backward/rungs/softmax_backward_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {
namespace {

template <bool kLog, class T>
__global__ void __launch_bounds__(softmax_backward_plan::kLessonBlock) thread_row_kernel(Operands<T> call) {
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= call.count()) return;
  const RowElements<kLog, T> row(call, r);
  float sum = 0;
  for (std::int64_t j = 0; j < call.length(); ++j) sum += row.part(j);
  row.write(0, 1, sum);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxBackwardArgs>& call) {
  return dispatch_call(call.args, [&]<class T, bool kLog>() {
    return launch_rows<T>(call, thread_row_kernel<kLog, T>, softmax_backward_plan::kLessonBlock,
                          softmax_backward_plan::kLessonBlock);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
