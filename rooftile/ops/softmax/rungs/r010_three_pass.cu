// The definition, by one thread for a row.
//
// Idea       three walks along a row: its maximum, the sum of the exponentials, the results.
// Change     the start of the GPU climb; it serves bias, mask and any strides.
// Limits     rows of at most 16384 elements: one chain of f32 additions.
// Bottleneck the lanes of a warp are a row apart: each load touches 32 sectors, three times over.
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(softmax_plan::kLessonBlock) three_pass_kernel(Operands<T> call) {
  const std::int64_t r = std::int64_t{blockIdx.x} * softmax_plan::kLessonBlock + threadIdx.x;
  if (r >= call.places.rows.count) return;
  const RowElements<T> row(call, r);
  Stats stats = kNone;
  for (std::int64_t j = 0; j < call.places.rows.length; ++j)
    stats.maximum = fmaxf(stats.maximum, row.value(j));
  const float reference = finite_or_zero(stats.maximum);
  for (std::int64_t j = 0; j < call.places.rows.length; ++j)
    stats.sum += call.exponentials.of(row.value(j) - reference);
  write_elements(row, call.results(stats), 0, 1);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, three_pass_kernel<T>, softmax_plan::kLessonBlock, softmax_plan::kLessonBlock);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
