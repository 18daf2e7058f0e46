// A thread for a row: the definition.
//
// Idea       a walk for the squares, a walk for the results.
// Limits     rows of at most 16384 elements.
// Bottleneck a warp's lanes are a row apart: 32 sectors for each load.
#include "rooftile/families/norm/rungs/thread_rows.h"
#include "rooftile/ops/rms_norm/rms_norm.h"

namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs {

Status ROOFTILE_RUNG(const Call<RmsNormArgs>& call) { return norm::launch_one_walk<norm::Uncentred>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::rms_norm_rungs
