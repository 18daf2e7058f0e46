// Rows split over blocks of their own.
#pragma once

#include <array>
#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/device/split_row_cut.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

inline constexpr std::array<SplitShape, 3> kSplitTestShapes = {{{1, 1, 1}, {2, 2, 2}, {2, 1, 2}}};
inline constexpr int kSplitTakes = 2;

// Each word of a row, plus the sum of the row; of rows 1, 4, 7 ... plus the number of its words, too. Rows begin `pitch` words apart; is_whole:
// of whole vectors each. zeroed: grid_meeting_bytes of zeros, as which it is left. g_out lies to 16 bytes as g_in does, and may be it.
Status run_split_sums(StreamRef stream, bool is_whole, const std::uint32_t* g_in, int rows, int n,
                      std::int64_t pitch, const SplitCut& cut, void* zeroed, std::uint32_t* g_out);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
