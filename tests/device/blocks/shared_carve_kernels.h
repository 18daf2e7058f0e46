// A carve of dynamic shared memory, described once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {

std::size_t carved_bytes(int stages);

inline constexpr int kCarvedPieces = 4;
// g_offsets[i]: byte offset of each piece, then of their end; *g_wrong: how many bytes of the pieces do not
// hold what was written there. `less` bytes are withheld from the launch.
Status run_carve(StreamRef stream, int stages, std::size_t less, std::uint32_t* g_offsets,
                 std::uint32_t* g_wrong);

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
