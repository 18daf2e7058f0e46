// The kernels of the executor's tests: host functions that launch them. Pointers are memory that the stream's
// device can use; every function launches once.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET sim  // the tests themselves, which are host code, call the simulated kernels
#endif

namespace rooftile::ROOFTILE_TARGET::sim_tests {

// One warp. Lanes of `exited` return at once; lanes of `mask` take part; the others write nothing.
enum class Shuffle { index, up, down, exchange };
template <class T>
Status run_shuffle(StreamRef stream, Shuffle kind, unsigned mask, unsigned exited, int operand, int width,
                   const T* g_in, T* g_out);
Status run_shuffle_half(StreamRef stream, unsigned mask, int lane_mask, const std::uint16_t* g_in,
                        std::uint16_t* g_out);

struct Votes {
  unsigned ballot;
  int any;
  int all;
};
Status run_votes(StreamRef stream, unsigned mask, unsigned exited, const int* g_predicate, Votes* g_out);

struct Matches {
  unsigned any;
  unsigned all;
  int all_predicate;
};
template <class T>
Status run_matches(StreamRef stream, unsigned mask, const T* g_in, Matches* g_out);

struct Reductions {
  unsigned add, min, max, all_bits, any_bit, odd_bits;
  int signed_add, signed_min, signed_max;
};
Status run_reductions(StreamRef stream, unsigned mask, const unsigned* g_in, Reductions* g_out);

// Two halves of a warp in collectives of their own, a different number of times.
Status run_split_warp(StreamRef stream, int* g_out);

// 4 values per thread: the three block-wide predicates, and a sum through shared memory that needs every
// barrier.
Status run_block_barriers(StreamRef stream, unsigned threads, unsigned exited_threads, const int* g_predicate,
                          int* g_out);
Status run_tiles(StreamRef stream, unsigned block_x, unsigned block_y, int* g_out);

// Every thread takes a ticket, synchronises its warp, and takes another: the order in which lanes ran.
Status run_tickets(StreamRef stream, unsigned blocks, unsigned threads, unsigned* g_counter,
                   unsigned* g_first, unsigned* g_second);

// A block-wide sum of `threads` values, right and with its barrier left out.
Status run_block_sum(StreamRef stream, bool with_barrier, unsigned threads, const int* g_in, int* g_out);
// One partial sum per block of 256: what the speed of the executor is measured by.
Status run_tree_reduce(StreamRef stream, unsigned blocks, const float* g_in, float* g_out);
Status run_shuffle_reduce(StreamRef stream, unsigned blocks, const float* g_in, float* g_out);
Status run_scale(StreamRef stream, unsigned blocks, float factor, const float* g_in, float* g_out);

// Every thread of every block, on one location per kind.
struct AtomicTotals {
  int add_int, sub_int, min_int, max_int, and_int, or_int, xor_int;
  unsigned add_unsigned, inc_unsigned, dec_unsigned, exchanged;
  unsigned long long add_ull, max_ull;
  long long min_ll;
  float add_float;
  double add_double;
  std::uint16_t add_half, add_bfloat16;
  unsigned short cas_short;
  unsigned locked_count;  // incremented by plain code under a lock
  unsigned lock;
};
Status run_atomics(StreamRef stream, unsigned blocks, unsigned threads, AtomicTotals* g_totals);

// Blocks pass a value on, each waiting for the one before it.
Status run_chain(StreamRef stream, unsigned blocks, unsigned* g_flags, unsigned* g_values);
// `rounds` rounds in which every block reads what its neighbour wrote in the round before.
Status run_grid_sync(StreamRef stream, unsigned blocks, unsigned threads, int rounds, int* g_values);
Status run_printf(StreamRef stream, unsigned blocks, unsigned threads);
Status run_dynamic_shared(StreamRef stream, unsigned bytes, unsigned* g_out);
Status run_indices(StreamRef stream, unsigned* g_seen);  // grid (3,2,2) of blocks (4,3,2)
Status run_copy(StreamRef stream, unsigned n, const float* g_in, float* g_out);  // float4, n a multiple of 4
Status run_unchecked_sizes(StreamRef stream, unsigned grid, unsigned block, unsigned shared_bytes,
                           unsigned cluster, bool cooperative);

// Kernels that must fail.
enum class Misuse {
  divergent_barrier,    // half of the block waits at another line
  barrier_not_reached,  // one warp waits for a flag that is set after the barrier, the rest at the barrier
  missing_lane,         // the mask names a lane that waits elsewhere
  lane_not_in_own_mask,
  different_collectives,  // with one mask
  shuffle_width,
  grid_sync_not_reached,  // by one block, which returns
  grid_sync_not_cooperative,
  grid_sync_after_exit,  // one thread has returned
  flag_never_set,
  flag_never_set_cas,
  waits_for_later_block,
  polls_between_barriers,
  works_between_barriers,
  spins_on_volatile,
  endless_loop,
  assertion,
  trap,
};
Status run_misuse(StreamRef stream, Misuse misuse, unsigned* g_flag);

// One thread computes; the test compares.
struct Numbers {
  unsigned popc, ffs, clz, brev, byte_perm, funnel_l, funnel_r, umulhi;
  int mul24, mulhi, dp4a, popcll, clzll, ffsll;
  int float_as_int, to_int_rn, to_int_rz, to_int_ru, to_int_rd, to_int_saturated, to_int_nan;
  float rsqrt, fma, min_nan, from_bits;
  unsigned min_mixed;
  std::uint16_t half_sum, half_fma, half_from_float, half_neg, bf16_product, bf16_from_float, bf16_max;
  float half2_low, half2_high;
  float loaded;
};
Status run_numbers(StreamRef stream, const float* g_in, Numbers* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
