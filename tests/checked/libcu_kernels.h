// The kernels of the checked build's tests of CUDA's C++ library and cooperative groups.
#pragma once

#include "tests/checked/kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {

// A block of 64, each kernel's bugs behind its right form. g_in holds 64 values for each of 8 tiles, g_out 64.
enum class LibraryBug {
  none_pipeline,
  consumer_wait_left_out,
  released_early,
  acquire_left_out,
  none_roles,
  none_thread_pipeline,
  thread_wait_left_out,
  none_primitives,
  primitives_not_waited,
  none_barrier,
  barrier_not_waited,
  none_barrier_copy,
  barrier_copy_not_waited,
  none_group_copy,
  group_copy_not_waited,
  none_atomic,
  atomic_relaxed,
  none_atomic_fences,
  atomic_fence_left_out,
  none_group_sync,
  group_of_too_few,
  plain_beside_atomic,
};
Status run_library_bug(StreamRef stream, LibraryBug bug, const int* g_in, int* g_out);

// Two blocks: each reads what the other wrote in front of a barrier of the device, or beside it. g_barrier is
// zeros.
Status run_device_barrier(StreamRef stream, bool waits, std::uint64_t* g_barrier, int* g_values, int* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
