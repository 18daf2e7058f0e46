// wgmma, and nothing beside it.
//
// Idea       TMA brings 128 x 64 of a and 64 x 128 of b into shared memory, and two warpgroups multiply 64 x 128 each from there by wgmma. Then
//            the next step is asked for.
// Change     no fragment goes through registers, no thread copies, and an instruction multiplies 64 x 128 x 16.
// Limits     sm_90a; f16, bf16; any strides (operands whose rows TMA cannot take are copied first); k of 1 and more.
// Bottleneck the wait for every step.
// Source     PTX ISA, wgmma and cp.async.bulk.tensor.
#include "rooftile/ops/gemm/rungs/wgmma_steps.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_steps<1>(call); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
