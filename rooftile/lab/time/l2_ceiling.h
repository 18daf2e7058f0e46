// A kernel that only reads: what a GPU's L2 reaches.
#pragma once

#include <cstddef>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

// Enqueues `passes` reads of the whole source, a multiple of 16 bytes, past the L1. The sink holds 16 bytes.
[[nodiscard]] Status l2_ceiling_cuda(StreamRef stream, int multiprocessors, const void* source,
                                     std::size_t bytes, int passes, void* sink);

}  // namespace rooftile::lab
