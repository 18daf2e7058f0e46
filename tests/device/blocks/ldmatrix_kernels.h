// ldmatrix of every form, from rows that lie anywhere, and the fragments that mma takes.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

inline constexpr int kMatrixMemory = 4096;  // bytes

// One warp: shared memory is g_in, lane l names the row at byte g_rows[l]; g_out[l * matrices + i] is its r[i].
Status run_ldmatrix(StreamRef stream, int matrices, bool transposed, const std::uint32_t* g_in,
                    const std::uint32_t* g_rows, std::uint32_t* g_out);

// out = a * b for a of 16 x 16 and b of 16 x 8 halves, both row by row, by ldmatrix, its transposed form, and mma.
Status run_ldmatrix_mma(StreamRef stream, const std::uint16_t* g_a, const std::uint16_t* g_b, float* g_out);

// Rows that are not at a multiple of 16 bytes, or not in shared memory.
enum class LdmatrixMisuse { misaligned, global_memory };
Status run_misused_ldmatrix(StreamRef stream, LdmatrixMisuse misuse, const std::uint16_t* g_rows);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
