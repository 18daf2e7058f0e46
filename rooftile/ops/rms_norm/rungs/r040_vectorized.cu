// As many threads to a row as it has vectors.
//
// Idea       a row's aligned vectors of 16 bytes in the registers of 1 to 512 threads, by its length; what hangs over at its ends is
//            loaded element by element.
// Change     16 bytes for each load and store; the row is read once. Of an x from 64 MiB on whole rows pass through L2 in front of
//            what is written.
// Limits     rows of up to 64 KiB without gaps; x, residual and y alike to 16 bytes.
// Bottleneck DRAM; weights that lie otherwise than the row come element by element, from L1.
#include "rooftile/families/norm/rungs/vectorized_rows.h"
#include "rooftile/ops/rms_norm/rms_norm.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormArgs>& call) {
  return norm::launch_vectorized_rows<norm::Uncentred>(call);
}

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs
