// The kernels of the tests of cooperative groups.
#pragma once

#include "tests/sim/kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {

// What every thread of a group is told; `wide` is two shuffles of 24 bytes.
struct GroupFacts {
  unsigned size, rank, meta_rank, meta_size;
  int from_last, up, down;
  unsigned ballot;
  int any, all;
  unsigned match_any, match_all;
  int matches_all;
  int sum, lowest, highest;
  unsigned all_bits, any_bits, odd_bits;
  int inclusive, exclusive;
  long long inclusive_product_sign;  // of an operation of one's own
  double wide[3];
};

enum class GroupKind {
  tile_of_32,
  tile_of_8,
  tile_of_4_of_16,  // of a tile of 32
  labels,           // of a tile of 32, by lane % 3
  labels_of_tile,   // of tiles of 8
  odd_values,       // of a tile of 32
  all_agree,        // of a tile of 32
  odd_of_labels,    // lane % 3, then odd values
  fours_of_labels,  // lane % 3, then tiles of 4 of them
};
// One block of `threads`.
Status run_group_facts(StreamRef stream, GroupKind kind, unsigned threads, const int* g_in,
                       GroupFacts* g_out);

struct CoalescedFacts {
  unsigned size, rank, sum_of_ones, first_lane;
};
// A warp, of which every third lane is in the branch.
Status run_coalesced(StreamRef stream, CoalescedFacts* g_out, unsigned* g_members);

// (size, rank) of the block and of its tiles of `tile` as thread_group, a sum of each tile through shared
// memory, and how often invoke_one ran in all tiles of 32.
struct ThreadGroupFacts {
  unsigned block_size, block_rank, tile_size, tile_rank, tile_sum, tickets;
};
Status run_thread_groups(StreamRef stream, unsigned threads, unsigned tile, ThreadGroupFacts* g_out,
                         unsigned* g_ticket);

struct ClusterFacts {
  unsigned block_rank, blocks, rank, threads, neighbour;
  unsigned block_index, thread_index, block_extent, thread_extent;  // along x
  unsigned block_of_grid, blocks_of_grid;
};
Status run_cluster_group(StreamRef stream, unsigned clusters, unsigned blocks, unsigned threads,
                         ClusterFacts* g_out);

// A block of 64 copies `bytes` bytes from g_in to shared memory, both `offset` bytes into their buffers, waits
// and writes them, and one byte behind, to g_out; `seen_early` is the first byte before the wait.
enum class GroupCopyKind { block, tile, labels, elements, two_of_which_one_waited };
Status run_group_copy(StreamRef stream, GroupCopyKind kind, unsigned bytes, unsigned offset,
                      const unsigned char* g_in, unsigned char* g_out, unsigned char* g_seen_early);

enum class GroupMisuse { rank_outside, tile_of_three };
Status run_group_misuse(StreamRef stream, GroupMisuse misuse);

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
