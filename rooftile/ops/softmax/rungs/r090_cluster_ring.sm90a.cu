// A row in the shared memory of a cluster.
//
// Idea       the blocks of a cluster have a part of each row in their rings.
// Change     rows of up to 3.4 MiB are read once: more than registers hold.
// Limits     sm_90a; rows without gaps, x and y alike to 16 bytes; no bias, no mask. More than 8 blocks ask for a cluster that not
//            every GPU has: H100 and H200 do.
// Bottleneck DRAM; of few rows the way there and back, which nothing overlaps.
// Source     PTX ISA, st.async, distributed shared memory.
#include "rooftile/ops/softmax/rungs/ring_rows.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) { return launch_ring_rows<true>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
