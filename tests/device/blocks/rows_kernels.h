// Rows in registers, the threads of a row, and powers of 2.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

// Each 16-bit word of rows of n, `pitch` apart, plus the sum of its row, by `threads` threads for a row with 2 vectors each
// (1, 8, 32, 64 or 96 threads). g_out may be g_in. is_whole: rows begin and end at multiples of 16 bytes; with a window of 0
// or more rows they are read as PassingRows are.
Status run_add_sums(StreamRef stream, int threads, bool is_whole, const std::uint16_t* g_in,
                    std::int64_t rows, int n, std::int64_t pitch, std::int64_t window, std::uint16_t* g_out);

// The same of one row, by two blocks of 32 threads that have `part` vectors each; `sum` is what each adds.
Status run_add_by_parts(StreamRef stream, const std::uint16_t* g_in, int n, int part, std::uint16_t sum,
                        std::uint16_t* g_out);

Status run_exp2(StreamRef stream, const float* g_x, int n, float* g_y);
Status run_reciprocal(StreamRef stream, const float* g_x, int n, float* g_y);
Status run_tanh(StreamRef stream, const float* g_x, int n, float* g_y);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
