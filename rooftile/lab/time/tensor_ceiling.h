// Kernels that do nothing but multiply matrices: what a GPU's tensor cores reach.
#pragma once

#include <string_view>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

enum class TensorInput { bf16, f8e4m3, tf32 };  // all accumulate in f32
[[nodiscard]] std::string_view to_string(TensorInput input);

// Enqueues chains of products of random matrices on every SM, no operand of which leaves the SM; `flops` gets
// the operations of the launch, 2 per multiply-add. The sink holds a float.
//
// On sm_90 by wgmma.m64n256 from shared memory, which alone reaches Hopper's peak; elsewhere, for bf16 only,
// by mma.sync.m16n8k16 from registers (sm_80 and newer).
[[nodiscard]] Status wgmma_ceiling_cuda(StreamRef stream, TensorInput input, int multiprocessors, int rounds,
                                        float* sink, double* flops);
[[nodiscard]] Status mma_sync_ceiling_cuda(StreamRef stream, int multiprocessors, int rounds, float* sink,
                                           double* flops);

}  // namespace rooftile::lab
