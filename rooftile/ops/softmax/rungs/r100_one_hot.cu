// Temperature 0.
//
// Idea       a block finds where the first of the largest elements stands, and writes 1 there.
// Change     not of the climb: the limit that exponentials cannot reach.
// Limits     temperature 0 alone; any strides, bias and mask.
// Bottleneck the row is read twice, element by element.
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

struct Best {
  float value;         // the largest; NaN where there is one
  std::int64_t place;  // -1: none above -inf
};

__device__ __forceinline__ Best better(const Best& a, const Best& b) {
  if (isnan(a.value) || isnan(b.value)) return {a.value + b.value, -1};
  if (a.value != b.value) return a.value > b.value ? a : b;
  return a.place < b.place ? a : b;
}

template <class T>
__global__ void __launch_bounds__(softmax_plan::kBlockRowThreads) one_hot_kernel(Operands<T> call) {
  using Threads = RowThreads<softmax_plan::kBlockRowThreads>;
  constexpr std::int64_t kBehindAll = std::numeric_limits<std::int64_t>::max();
  __shared__ Best s_best[Threads::kWarps];
  const RowElements<T> row(call, blockIdx.x);
  const Best none{kNegativeInfinity, kBehindAll};
  Best best = none;
  for (std::int64_t j = threadIdx.x; j < call.places.rows.length; j += Threads::kThreads) {
    const float value = row.value(j);
    best = better(best, {value, value == kNegativeInfinity ? kBehindAll : j});
  }
  best = Threads::all_reduce(best, none, s_best,
                             [](auto lanes, const Best& own) { return lanes_reduce<lanes>(own, better); });
  const float chosen = isnan(best.value) ? best.value : call.log ? 0.0f : 1.0f;
  const float other = isnan(best.value) ? best.value : call.log ? kNegativeInfinity : 0.0f;
  for (std::int64_t j = threadIdx.x; j < call.places.rows.length; j += Threads::kThreads)
    row.store(j, j == best.place ? chosen : other);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, one_hot_kernel<T>, softmax_plan::kBlockRowThreads, 1);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
