// Sums of weights.
//
// Idea       ranges of bins as in multi_pass, with sums of doubles in place of counters.
// Change     serves weights.
// Limits     the sums' last bits differ from run to run, with the order of the additions.
// Bottleneck an addition of doubles in shared memory is a loop of compare-and-swap: lanes that meet at a sum come one after the
//            other, each by a loop of its own.
#include "rooftile/ops/histogram/rungs/range_counts.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return launch_range_counts<double, histogram_plan::kRangeBlock>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
