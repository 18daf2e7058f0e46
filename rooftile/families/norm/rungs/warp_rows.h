// A warp for a row, whose elements stay in its lanes' registers.
#pragma once

#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm {

template <class Norm, class T>
__global__ void __launch_bounds__(norm_plan::kWarpRowsBlock) warp_rows_kernel(Operands<T> call) {
  constexpr int kOwn = norm_plan::kOwnElements;
  const std::int64_t r = std::int64_t{blockIdx.x} * (norm_plan::kWarpRowsBlock / kWarpSize) + warp_index();
  if (r >= call.count()) return;
  const RowElements<T> row(call, r);
  const auto n = static_cast<int>(call.length());
  const auto for_own = [&](auto body) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      if (lane_index() + i * kWarpSize < n) body(i, lane_index() + i * kWarpSize);
  };
  float values[kOwn];
  for_own([&](int i, int j) { values[i] = row.take(j); });
  const Results results = call.template results<Norm>([&](float scale) {
    float count = 0;
    float sum = 0;
    for_own([&](int i, int) {
      count += 1;
      sum = fmaf(values[i], scale, sum);
    });
    const float centre = Norm::centre(sum, count);
    Differences found;
    for_own([&](int i, int) { found.add(fmaf(values[i], scale, -centre)); });
    return Norm::over_lanes(std::integral_constant<int, kWarpSize>{}, Norm::about(centre, count, found));
  });
  for_own([&](int i, int j) { row.store(j, results.of(values[i])); });
}

template <class Norm, class Args>
Status launch_warp_rows(const Call<Args>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, warp_rows_kernel<Norm, T>, norm_plan::kWarpRowsBlock,
                          norm_plan::kWarpRowsBlock / kWarpSize);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
