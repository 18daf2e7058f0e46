// A row in the registers of a cluster.
//
// Idea       the blocks of a cluster have a part of the row each; each warp sends what it found to all of them (st.async), and each
//            block waits once.
// Change     long rows in blocks that are small enough for several to be on a multiprocessor; of few rows each has many
//            multiprocessors.
// Limits     sm_90a; rows from 1 KiB to 1 MiB without gaps; x, residual and y alike to 16 bytes. More than 8 blocks ask for a cluster that
//            not every GPU has: H100 and H200 do.
// Bottleneck DRAM; of few rows the way there and back, which nothing overlaps.
// Source     PTX ISA, st.async, distributed shared memory.
#include "rooftile/families/norm/rungs/cluster_rows.h"
#include "rooftile/ops/rms_norm/rms_norm.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormArgs>& call) {
  return norm::launch_cluster_rows<norm::Uncentred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs
