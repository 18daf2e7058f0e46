// The same, with gaps.
//
// Idea       a word is left out behind every 32 elements, and one more behind every 1024: pairs at any distance stand in
//            banks of their own.
// Change     the place of an element in shared memory.
// Limits     as blelloch_block.
// Bottleneck barriers and idle lanes.
// Source     GPU Gems 3, ch. 39.
#include "rooftile/ops/scan/rungs/tree_rows.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) { return launch_tree_rows<WithGaps>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
