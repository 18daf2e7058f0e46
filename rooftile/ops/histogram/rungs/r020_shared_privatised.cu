// Counters of the block's own.
//
// Idea       every block has counters in shared memory; when it is done it adds them to the global ones, and the block that
//            comes last gives the result.
// Change     an addition does not leave the multiprocessor, and bins are few to add globally; 16-byte loads.
// Limits     as many bins as shared memory holds. No weights.
// Bottleneck additions in shared memory: lanes of a warp that meet at a counter, or at a bank, come one after the other.
// Source     Podlozhnyuk (2007).
#include "rooftile/ops/histogram/rungs/range_counts.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return launch_range_counts<std::uint32_t, histogram_plan::kBlock>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
