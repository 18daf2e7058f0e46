// The swizzle functions as the device computes them.
#pragma once

#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

// g_out[span][i] = swizzle_bytes<32, 64, 128>(i), i < 2048.
inline constexpr int kSwizzleOffsets = 2048;
Status run_swizzle_bytes(StreamRef stream, std::uint32_t* g_out);

// Transposes a 32 x 32 tile through shared memory, written by rows and read by columns, with the swizzle or
// without: for ncu, which counts the bank conflicts that sim_swizzle_test.cpp computes.
Status run_tile_transpose(StreamRef stream, bool swizzled, const float* g_in, float* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
