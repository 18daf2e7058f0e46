// Division by an invariant divisor, Philox, and loops over a grid.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

// quotients[i] and remainders[i] of dividends[i] by a FastDivisor of `divisor`.
template <class UInt>
Status run_divide(StreamRef stream, UInt divisor, std::int64_t n, const UInt* g_dividends, UInt* g_quotients,
                  UInt* g_remainders);

// Four words and their unit floats for each i < n of philox_counter(first + i, stream_id).
Status run_philox(StreamRef stream, std::uint64_t seed, std::uint64_t first, std::uint64_t stream_id, int n,
                  std::uint32_t* g_words, float* g_floats);

// Adds 1 to counts[i] for each i < n, with `blocks` blocks of 32 threads; order[i] = by which thread.
Status run_grid_stride(StreamRef stream, int blocks, std::int64_t n, std::uint32_t* g_counts,
                       std::uint32_t* g_threads);
unsigned grid_blocks_of(std::int64_t n, std::int64_t per_block, std::int64_t limit);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
