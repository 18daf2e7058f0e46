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
  input_written,
  divergent_barrier,
  exited_lane,
  deadlock,
  livelock,
};
Status run_bug(StreamRef stream, Bug bug, const int* g_in, int* g_out, unsigned* g_flag);

// Asynchronous copies of a block of 64, each kernel's bugs behind its right form. g_in and g_out hold 64
// values.
enum class CopyBug {
  none_cp_async,
  cp_async_not_waited,
  cp_async_without_barrier,
  cp_async_refilled_early,
  cp_async_newest_group,
  none_bulk_load,
  none_global_written,
  none_over_written,
  mbarrier_not_announced,
  copy_not_announced,
  global_written_without_fence,
  bulk_load_behind,
  bulk_load_uninitialised,
  bulk_load_over_written,
  bulk_load_not_waited,
  bulk_load_refilled_early,
  none_bulk_store,
  none_written_twice,
  store_uninitialised,
  store_without_fence,
  fence_behind_barrier,
  store_overwritten,
  store_read_back_early,
  none_phases,
  phase_not_complete,
  mbarrier_never_complete,
};
Status run_copy_bug(StreamRef stream, CopyBug bug, const int* g_in, int* g_out);

// Clusters of two blocks of 64. g_in holds 64 values, g_out 64 for each block.
enum class ClusterBug {
  none_exchange,
  remote_uninitialised,
  remote_read_early,
  remote_written_by_two,
  global_not_ordered,
  left_early,
  left_between,
  none_remote_arrive,
  none_bulk_send,
  bulk_send_not_waited,
  bulk_send_overwritten,
  bulk_send_without_fence,
  none_store_async,
  store_async_not_waited,
  none_multicast,
  multicast_not_waited,
};
Status run_cluster_bug(StreamRef stream, ClusterBug bug, unsigned clusters, const int* g_in, int* g_out);

// Blocks that hand values to each other through global memory: block b writes g_values[b], tells so by
// g_flags, and the last one (or the next) reads. `right` or with what orders the two left out.
enum class Handover {
  release_acquire,
  through_mbarrier,
  relaxed_flag,
  fences,
  missing_fence,
  ticket,
  plain_ticket
};
Status run_handover(StreamRef stream, Handover kind, unsigned blocks, int* g_values, unsigned* g_flags,
                    int* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
