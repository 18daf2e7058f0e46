// The textbook scan.
//
// Idea       a tree in shared memory: sums on the way up, what stands in front on the way down. 2 n additions in 2 log n
//            steps.
// Limits     rows of at most 2048 elements, a block each; sums of f32, i32 and u32.
// Bottleneck barriers, idle lanes, and bank conflicts: pairs at a distance of 32 elements meet in one bank.
// Source     Blelloch (1990); GPU Gems 3, ch. 39.
#include "rooftile/ops/scan/rungs/tree_rows.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) { return launch_tree_rows<SideBySide>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
