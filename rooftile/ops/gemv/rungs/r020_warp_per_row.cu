// Lanes side by side.
//
// Idea       the 32 lanes of a warp take 32 elements of a row that lie side by side, then the next 32, and meet in a butterfly.
// Change     a warp's load is one or two lines in place of 32.
// Limits     an output for each row in memory; any alignment, any stride of x.
// Bottleneck bytes in flight: a load brings an element to each lane, 64 or 128 bytes to a warp.
// Source     Harris, Optimizing parallel reduction in CUDA (2007).
#include "rooftile/ops/gemv/rungs/gemv_device.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kLessonBlock;
constexpr std::int64_t kChain =
    gemv_plan::kLongestChain * kWarpSize;  // elements of a row for one chain per lane

template <class In, class Acc>
__global__ void __launch_bounds__(kBlock) warp_per_row_kernel(Operands<In, Acc> call) {
  const std::int64_t row = std::int64_t{blockIdx.x} * (kBlock / kWarpSize) + warp_index();
  if (row < call.outputs()) {  // the whole warp
    const auto at = call.place_of(row);
    const In* g_row = call.row(at);
    const In* g_x = call.vector(at.batch);
    const std::int64_t n = call.shape.columns;
    Acc total{};
    for (std::int64_t first = 0; first < n; first += kChain) {
      const std::int64_t last = first + kChain < n ? first + kChain : n;
      Acc sum{};
#pragma unroll 8
      for (std::int64_t i = first + lane_index(); i < last; i += kWarpSize)
        sum = add_product(sum, g_row[i], g_x[i * call.shape.x_step]);
      total += sum;
    }
    total = warp_reduce(total, Add{});
    if (lane_index() == 0) call.store(at, total);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    return launch_blocks(call, kBlock, warp_per_row_kernel<In, Acc>, operands_of<In, Acc>(call));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
