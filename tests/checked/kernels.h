// The kernels of the checked build's tests: host functions that launch them, one launch each. Pointers are
// host memory.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET checked  // the tests themselves, which are host code, call the checked kernels
#endif

namespace rooftile::ROOFTILE_TARGET::checked_tests {

// Thread i copies element i * stride; `blocks` blocks of 256.
Status run_strided_copy(StreamRef stream, unsigned blocks, int stride, const float* g_in, float* g_out);
Status run_float4_copy(StreamRef stream, unsigned blocks, const float* g_in, float* g_out);

// n x n, in tiles of 32 x 32 by blocks of (32, 8).
enum class Transpose { naive, tiled, padded };
Status run_transpose(StreamRef stream, Transpose kind, int n, const float* g_in, float* g_out);

// One block of 256 sums its values; in step s the threads that are multiples of 2s are active.
Status run_divergent_reduce(StreamRef stream, const float* g_in, float* g_out);

// Every thread adds 1 to g_counters[thread % counters].
Status run_atomic_add(StreamRef stream, int counters, int* g_counters);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
