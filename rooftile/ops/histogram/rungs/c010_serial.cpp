// CPU rung serial: one loop, one array of counters.
#include <algorithm>

#include "rooftile/ops/histogram/histogram_cpu.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return dispatch_counts(call.args, [&]<class Count>() -> Status {
    auto* counts = static_cast<Count*>(call.workspace.data);
    std::fill_n(counts, call.args.bins, Count{0});
    ROOFTILE_TRY(count_elements(call.args, 0, call.args.in.numel(), counts));
    store_counts(call.args, counts);
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
