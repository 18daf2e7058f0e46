// Four stages.
//
// Idea       three steps are on their way while one is multiplied; a barrier of the block parts two steps.
// Change     wgmma_single without the wait for memory.
// Limits     as wgmma_single.
// Bottleneck the barrier: the tensor cores have nothing to do between two steps.
// Source     PTX ISA, mbarrier.
#include "rooftile/ops/gemm/rungs/wgmma_steps.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_steps<4>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
