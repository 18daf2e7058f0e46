// A block for a row of any length.
//
// Idea       512 threads side by side in the row, four elements on their way for each; sums in double.
// Change     16 warps' bytes of a row on their way; rows of any length are served.
// Limits     none.
// Bottleneck y and dy are read twice, element by element.
#include "rooftile/ops/softmax_backward/rungs/softmax_backward_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {
namespace {

template <bool kLog, class T>
__global__ void __launch_bounds__(softmax_backward_plan::kBlockRowThreads)
    block_row_kernel(Operands<T> call) {
  using Threads = RowThreads<softmax_backward_plan::kBlockRowThreads>;
  constexpr int kInFlight = 4;
  __shared__ double s_sums[Threads::kWarps];
  const RowElements<kLog, T> row(call, blockIdx.x);
  double sum = 0;
  for (std::int64_t j = threadIdx.x; j < call.length(); j += kInFlight * Threads::kThreads) {
    float parts[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const std::int64_t at = j + i * Threads::kThreads;
      parts[i] = at < call.length() ? row.part(at) : 0.0f;
    }
    sum += static_cast<double>((parts[0] + parts[1]) + (parts[2] + parts[3]));
  }
  sum = Threads::all_reduce(sum, 0.0, s_sums, Sum{});
  row.write(threadIdx.x, Threads::kThreads, static_cast<float>(sum));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxBackwardArgs>& call) {
  return dispatch_call(call.args, [&]<class T, bool kLog>() {
    return launch_rows<T>(call, block_row_kernel<kLog, T>, softmax_backward_plan::kBlockRowThreads, 1);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
