// A range of bins at a time.
//
// Idea       bins are divided into ranges that fit shared memory; blocks of each range read all elements, and pass over those
//            of the others.
// Change     any number of bins: of 65536 three ranges are counted.
// Bottleneck DRAM, once for every range.
#include "rooftile/ops/histogram/rungs/range_counts.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return launch_range_counts<std::uint32_t, histogram_plan::kRangeBlock>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
