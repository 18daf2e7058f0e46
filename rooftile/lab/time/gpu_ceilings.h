// Kernels that do one thing only: what a GPU's arithmetic and its L2 reach.
#pragma once

#include <cstddef>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

// Enqueues f32 fused multiply-adds on every SM, `rounds` times 8 independent ones per thread; `flops` gets
// the operations of the launch, 2 per multiply-add. The sink holds a float.
[[nodiscard]] Status fma_ceiling_cuda(StreamRef stream, int multiprocessors, int rounds, float* sink,
                                      double* flops);

// Enqueues `passes` reads of the whole source, a multiple of 16 bytes, past the L1. The sink holds 16 bytes.
[[nodiscard]] Status l2_ceiling_cuda(StreamRef stream, int multiprocessors, const void* source,
                                     std::size_t bytes, int passes, void* sink);

}  // namespace rooftile::lab
