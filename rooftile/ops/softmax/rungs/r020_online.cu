// Maximum and sum in one walk.
//
// Idea       the sum stands for the maximum so far, and is scaled whenever that grows.
// Change     two walks in place of three: the row is read twice.
// Limits     rows of at most 16384 elements: one chain of f32 additions.
// Bottleneck as before: the lanes of a warp are a row apart.
// Source     Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(softmax_plan::kLessonBlock) online_kernel(Operands<T> call) {
  const std::int64_t r = std::int64_t{blockIdx.x} * softmax_plan::kLessonBlock + threadIdx.x;
  if (r >= call.places.rows.count) return;
  const RowElements<T> row(call, r);
  Stats stats = kNone;
  for (std::int64_t j = 0; j < call.places.rows.length; ++j) call.exponentials.add(stats, row.value(j));
  write_elements(row, call.results(stats), 0, 1);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, online_kernel<T>, softmax_plan::kLessonBlock, softmax_plan::kLessonBlock);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
