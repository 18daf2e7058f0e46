// Rows through rings: what shared_row and cluster share.
#pragma once

#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/row_ring.h"
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {

using softmax_plan::kRingWarps;

template <class T, bool kClustered>
__global__ void __launch_bounds__((kRingWarps + 1) * kWarpSize)
    ring_rows_kernel(Operands<T> call, RowRingPlan plan) {
  __shared__ RowRingShared<kRingWarps, Stats> s;
  ROOFTILE_DYN_SHARED(uint4, s_ring);
  using Ring = RowRing<T, kRingWarps, Stats, kClustered>;
  Ring ring(s, s_ring, plan);
  const std::int64_t first = blockIdx.x / static_cast<unsigned>(plan.blocks);
  const std::int64_t step = plan.clusters;
  const auto filler = static_cast<T>(kNegativeInfinity);
  if (Ring::is_producer()) {
    ring.load(call.places.rows.count, first, step, call.places.rows.length,
              [&](std::int64_t row) { return call.x(row); });
  } else {
    for (std::int64_t row = first; row < call.places.rows.count; row += step) {
      ring.begin(call.x(row), call.places.rows.length);
      Stats stats = kNone;
      ring.for_each_arriving(filler, [&](const auto& vec) { call.exponentials.add(stats, as_floats(vec)); });
      stats = ring.all_reduce(
          stats, kNone, [&](const Stats& a, const Stats& b) { return call.exponentials.combined(a, b); },
          [&](auto lanes, const Stats& own) { return call.exponentials.over_lanes(lanes, own); });
      const Results results = call.results(stats);
      const auto write = [&](auto log) {
        ring.write(call.y(row), filler, [&](const auto& vec) { return results_of<log>(results, vec); });
      };
      if (results.log) {
        write(std::true_type{});
      } else {
        write(std::false_type{});
      }
    }
  }
  ring.finish();
}

template <bool kClustered>
Status launch_ring_rows(const Call<SoftmaxArgs>& call) {
  return dispatch_floats(call.args, [&]<class T>() -> Status {
    const Cut& cut = call.config<Cut>();
    if (cut.rows.is_empty()) return {};
    return launch(ring_rows_kernel<T, kClustered>,
                  {.grid = dim3(static_cast<unsigned>(cut.ring.clusters * cut.ring.blocks)),
                   .block = dim3((kRingWarps + 1) * kWarpSize),
                   .shared_bytes = static_cast<std::size_t>(cut.ring.stages) * softmax_plan::kRingStageBytes,
                   .stream = call.stream,
                   .cluster = dim3(static_cast<unsigned>(cut.ring.blocks))},
                  operands_of<T>(call), cut.ring);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
