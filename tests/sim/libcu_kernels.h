// The kernels of the tests of CUDA's C++ library: barriers, pipelines, asynchronous copies, atomics.
#pragma once

#include "tests/sim/kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {

// A block of 64 hands g_in[i] to its thread 63 - i, once or (drop) without the second warp.
enum class BarrierKind {
  arrive_and_wait,
  constructed,
  tokens,
  drop,     // warp 1 leaves after the first of three phases
  copies,   // memcpy_async by each thread
  group,    // memcpy_async by the block
  of_bulk,  // memcpy_async_tx and the bytes it brings
  updates,  // thread 0 arrives for its warp
};
Status run_barrier(StreamRef stream, BarrierKind kind, const int* g_in, int* g_out);

// One thread of two has not arrived: whether try_wait_for gave up, and whether it succeeded afterwards.
struct Patience {
  int gave_up, passed, parity_passed;
};
Status run_patience(StreamRef stream, Patience* g_out);

// A barrier of the device in zeroed g_barrier: in each of 3 rounds every block sums what all wrote.
Status run_device_barrier(StreamRef stream, unsigned blocks, std::uint64_t* g_barrier, int* g_values,
                          int* g_sums);

// Sums of `tiles` tiles of 64 through a ring of three stages, thread t its element of each; behind them, of a
// block's, how many threads were told that all had quit.
enum class PipelineKind {
  of_threads,
  of_threads_prior,
  of_block,
  of_block_by_group,
  first_warp_produces,  // warp 1 alone sums
  by_roles,             // the same, odd warps produce
  primitives,
};
Status run_pipeline(StreamRef stream, PipelineKind kind, int tiles, const int* g_in, int* g_out);

// What is in shared memory in front of the wait and behind it, where half of 16 bytes is zeros.
Status run_zero_fill(StreamRef stream, const int* g_in, int* g_out);

// One thread: the value behind each operation on 12, and what the operations returned.
struct AtomicFacts {
  int after[17];
  int returned[17];
  int replaced, not_replaced, found;
  float float_sum;
  double double_max;
  unsigned char byte;
  std::int64_t pointer_step;
};
Status run_atomic_operations(StreamRef stream, AtomicFacts* g_out);
// All threads of all blocks: a count by each form, and an exact maximum.
struct AtomicCounts {
  int by_ref, by_cas, largest;
  unsigned by_object;
};
Status run_atomic_counts(StreamRef stream, unsigned blocks, unsigned threads, AtomicCounts* g_counts);
// Block 1 waits for what block 0 releases.
Status run_atomic_handover(StreamRef stream, int* g_flag, int* g_value, int* g_out);

enum class LibraryMisuse { barrier_without_init, too_many_arrivals, aligned_size, aligned_address, width };
Status run_library_misuse(StreamRef stream, LibraryMisuse misuse, const int* g_in);

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
