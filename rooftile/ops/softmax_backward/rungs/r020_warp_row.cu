// A warp for a row.
//
// Idea       the lanes side by side in a row; their sums meet in a butterfly.
// Change     4 sectors for each load in place of 32.
// Limits     rows of at most 524288 elements.
// Bottleneck y and dy are read twice, element by element.
#include "rooftile/ops/softmax_backward/rungs/softmax_backward_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs {
namespace {

constexpr int kBlock = softmax_backward_plan::kWarpRowsBlock;

template <bool kLog, class T>
__global__ void __launch_bounds__(kBlock) warp_row_kernel(Operands<T> call) {
  const std::int64_t r = std::int64_t{blockIdx.x} * (kBlock / kWarpSize) + warp_index();
  if (r >= call.count()) return;
  const RowElements<kLog, T> row(call, r);
  float sum = 0;
  for (std::int64_t j = lane_index(); j < call.length(); j += kWarpSize) sum += row.part(j);
  sum = Sum{}(std::integral_constant<int, kWarpSize>{}, sum);
  row.write(lane_index(), kWarpSize, sum);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxBackwardArgs>& call) {
  return dispatch_call(call.args, [&]<class T, bool kLog>() {
    return launch_rows<T>(call, warp_row_kernel<kLog, T>, kBlock, kBlock / kWarpSize);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_backward_rungs
