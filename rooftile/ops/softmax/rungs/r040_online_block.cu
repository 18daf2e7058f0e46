// A block for a row.
//
// Idea       all threads of a block side by side in the row, four elements on their way for each; what the warps found meets in
//            shared memory.
// Change     16 warps' bytes of a row on their way; sums in double, so that rows of any length are exact enough.
// Limits     none: it serves every call but temperature 0.
// Bottleneck the row is read twice, element by element.
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

constexpr int kInFlight = 4;

template <class T>
__global__ void __launch_bounds__(softmax_plan::kBlockRowThreads) online_block_kernel(Operands<T> call) {
  using Threads = RowThreads<softmax_plan::kBlockRowThreads>;
  __shared__ float s_maxima[Threads::kWarps];
  __shared__ double s_sums[Threads::kWarps];
  const RowElements<T> row(call, blockIdx.x);
  const Exponentials& exponentials = call.exponentials;
  float maximum = kNegativeInfinity;
  double sum = 0;
  for (std::int64_t j = threadIdx.x; j < call.places.rows.length; j += kInFlight * Threads::kThreads) {
    Vec<float, kInFlight> values;
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const std::int64_t at = j + i * Threads::kThreads;
      values[i] = at < call.places.rows.length ? row.value(at) : kNegativeInfinity;
    }
    Stats step{maximum, 0};
    exponentials.add(step, values);
    if (step.maximum != maximum)
      sum *= static_cast<double>(exponentials.of(maximum - finite_or_zero(step.maximum)));
    sum += static_cast<double>(step.sum);
    maximum = step.maximum;
  }
  const float all = Threads::all_reduce(maximum, kNegativeInfinity, s_maxima, [](auto lanes, float x) {
    return lanes_reduce<lanes>(x, [](float a, float b) { return fmaxf(a, b); });
  });
  sum *= static_cast<double>(exponentials.of(maximum - finite_or_zero(all)));
  sum = Threads::all_reduce(sum, 0.0, s_sums, [](auto lanes, double x) {
    return lanes_reduce<lanes>(x, [](double a, double b) { return a + b; });
  });
  write_elements(row, call.results({all, static_cast<float>(sum)}), threadIdx.x, Threads::kThreads);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, online_block_kernel<T>, softmax_plan::kBlockRowThreads, 1);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
