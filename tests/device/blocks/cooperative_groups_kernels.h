// Cooperative groups beside our blocks.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

inline constexpr int kGroupThreads = 128;

// Each pair of rows holds what the library gives and what ours gives, one value per thread of one block:
//   cg::reduce(tile<32>, x, plus)          warp_reduce(x, plus)
//   tile<32>.shfl(x, 5)                    warp_broadcast(x, 5)
//   tile<32>.shfl_up(x, 1)                 shuffle_up(x, 1)
//   tile<32>.shfl_xor(x, 16)               shuffle_xor(x, 16)
//   tile<32>.thread_rank, meta_group_rank  lane_index, warp_index
//   cg::reduce(tile<8>, x, greater)        three shuffle_xor steps
//   block.sync around shared memory        block_broadcast(x, 77)
inline constexpr int kGroupPairs = 7;
Status run_group_pairs(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out);

// The sum of blocks * kGroupThreads values twice: with grid.sync() between the partial sums and their total
// (a cooperative launch, every block goes on), and by the last block (an ordinary launch, one block goes on).
Status run_grid_sum(StreamRef stream, bool cooperative, int blocks, const std::uint32_t* g_in,
                    std::uint32_t* g_partials, std::uint32_t* g_counter, std::uint32_t* g_totals);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
