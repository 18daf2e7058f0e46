// One value from a grid, and sums of 16-bit floats beside each other.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

inline constexpr int kGridReduceThreads = 96;

// Thread t of the grid brings g_in[t]; *g_out is their sum. How many threads were told so is added to *g_finishers.
Status run_grid_reduce(StreamRef stream, int blocks, const float* g_in, float* g_partials,
                       std::uint32_t* g_ticket, float* g_out, std::uint32_t* g_finishers);

// Thread t of `threads` adds values[t] to g_sums[t % length] by fast_atomic_add; 2-byte floats by their bits.
Status run_fast_atomic_add(StreamRef stream, bool bfloat, int threads, const std::uint16_t* g_values,
                           std::uint16_t* g_sums, std::int64_t length);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
