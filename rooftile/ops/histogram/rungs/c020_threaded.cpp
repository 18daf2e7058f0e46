// CPU rung threaded: parts with counters of their own, added up in their order.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

#include "rooftile/ops/histogram/histogram_cpu.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return dispatch_counts(call.args, [&]<class Count>() -> Status {
    const HistogramArgs& args = call.args;
    const std::int64_t n = args.in.numel();
    const std::int64_t bins = args.bins;
    // The parts follow from n and bins alone, so that the order of additions does not depend on threads.
    const std::int64_t parts = histogram_plan::host_parts(args);
    auto* counts = static_cast<Count*>(call.workspace.data);
    const auto count_parts = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        std::fill_n(counts + p * bins, bins, Count{0});
        // Legal: the operator has checked the dtype.
        (void)count_elements(args, p * n / parts, (p + 1) * n / parts, counts + p * bins).ok();
      }
    };
    if (parts == 1) {
      count_parts(0, 1);
    } else {
      tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, parts, 1),
                        [&](const auto& range) { count_parts(range.begin(), range.end()); });
    }
    for (std::int64_t p = 1; p < parts; ++p) {
      for (std::int64_t b = 0; b < bins; ++b) counts[b] += counts[p * bins + b];
    }
    store_counts(args, counts);
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
