// A warp for a row.
//
// Idea       lanes side by side in the row, each with its own maximum and sum; a butterfly makes them one.
// Change     a warp's loads lie side by side: 4 sectors each in place of 32.
// Limits     rows of at most 2^19 elements: a lane's chain of f32 additions.
// Bottleneck the row is read twice; of long rows few warps' bytes are on their way.
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

template <class T>
__global__ void __launch_bounds__(softmax_plan::kWarpRowsBlock) online_warp_kernel(Operands<T> call) {
  constexpr int kWarps = softmax_plan::kWarpRowsBlock / kWarpSize;
  const std::int64_t r = std::int64_t{blockIdx.x} * kWarps + warp_index();
  if (r >= call.places.rows.count) return;
  const RowElements<T> row(call, r);
  Stats stats = kNone;
  for (std::int64_t j = lane_index(); j < call.places.rows.length; j += kWarpSize)
    call.exponentials.add(stats, row.value(j));
  stats = call.exponentials.over_lanes(std::integral_constant<int, kWarpSize>{}, stats);
  write_elements(row, call.results(stats), lane_index(), kWarpSize);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, online_warp_kernel<T>, softmax_plan::kWarpRowsBlock,
                          softmax_plan::kWarpRowsBlock / kWarpSize);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
