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

// A block of 64 with a planted bug. g_in and g_out hold 64 values.
enum class Bug {
  none,
  none_with_partial_warps,
  missing_barrier,
  write_after_read,
  two_writers,
  missing_syncwarp,
  partial_syncwarp,  // each half of the warp synchronises alone, and reads from the other
  uninitialised_shared,
  uninitialised_global,
  global_read_behind,
  global_write_in_front,
  dynamic_shared_behind,
  static_shared_behind,
  divergent_barrier,
  exited_lane,
  deadlock,
  livelock,
};
Status run_bug(StreamRef stream, Bug bug, const int* g_in, int* g_out, unsigned* g_flag);

// Blocks that hand values to each other through global memory: block b writes g_values[b], tells so by
// g_flags, and the last one (or the next) reads. `right` or with what orders the two left out.
enum class Handover { release_acquire, relaxed_flag, fences, missing_fence, ticket, plain_ticket };
Status run_handover(StreamRef stream, Handover kind, unsigned blocks, int* g_values, unsigned* g_flags,
                    int* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
