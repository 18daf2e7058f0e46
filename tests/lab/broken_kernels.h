// Kernels that sum blocks of 256 floats, right or with one deliberate mistake each: what the lab's
// verification must find.
#pragma once

#include <cstdint>

#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::lab_tests {

enum class KernelBug {
  none,
  skipped_tail,           // the last block is summed only where it is full
  dropped_barrier,        // between the rounds of the tree
  dropped_first_barrier,  // before the first round
  half_accumulation,      // partial sums are kept in 16 bits
  wrong_lane,             // lane 17 adds its value twice
  nan_in_last,            // the last output is NaN
  output_not_written,     // the last block returns without a store
};

// g_out[b] = the sum of g_in[256 b, 256 b + 256), as far as there are n values.
Status run_block_sums(StreamRef stream, KernelBug bug, const float* g_in, std::int64_t n, float* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::lab_tests
