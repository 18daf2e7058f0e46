// A row in a ring of shared memory.
//
// Idea       a warp asks for rows by bulk copies, stage by stage, and 16 others take their maximum and sum as they come; the row stays
//            where it is until its results are written.
// Change     the next rows are on their way while this one is computed, whatever its registers would hold; blocks walk along all rows.
// Limits     sm_90a; rows of up to 220 KiB without gaps, x and y alike to 16 bytes; no bias, no mask.
// Bottleneck DRAM.
// Source     PTX ISA, cp.async.bulk.
#include "rooftile/ops/softmax/rungs/ring_rows.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) { return launch_ring_rows<false>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
