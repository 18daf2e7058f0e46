// A look-ahead pass over tiles.
#pragma once

#include <cstdint>

#include "rooftile/core/look_ahead_plan.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/workspace.h"

namespace rooftile {
namespace testing_sm90a {

inline constexpr int kLookAheadTile = 256;    // words
inline constexpr int kLookAheadScanners = 2;  // warps, half a tile each

struct LookAheadKernels {
  // Rows of `tiles` tiles of words: what stands in front of each scanner's part and of each tile in its row, and the words,
  // each one more. By `blocks` blocks; the workspace is look_ahead_workspace(rows, tiles, 4).
  Status (*sums)(StreamRef, const std::uint32_t* g_in, std::int64_t rows, std::int64_t tiles, unsigned blocks,
                 const Workspace& workspace, std::uint64_t* g_parts, std::uint64_t* g_tiles,
                 std::uint32_t* g_out);
};

}  // namespace testing_sm90a

namespace sim {
testing_sm90a::LookAheadKernels look_ahead_test_kernels();
}
namespace cuda {
testing_sm90a::LookAheadKernels look_ahead_test_kernels();
}

}  // namespace rooftile
