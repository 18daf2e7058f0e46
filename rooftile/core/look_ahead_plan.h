// The ring and the memory of a look-ahead pass (device/sm90a/look_ahead.h): what its plan cuts a call into and asks for, and its
// kernel divides up.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/published_plan.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

// A ring of tiles in shared memory, one block per SM: `warps` scanners, each with `vectors` of 32 lanes' 16 bytes of a tile. Of
// the stages some are on their way, and `ahead` are summed up and wait for what stands in front of them.
struct LookAheadRing {
  int warps;
  int vectors;
  int stages;
  int ahead;
  [[nodiscard]] constexpr std::int64_t tile_bytes() const { return std::int64_t{warps} * 32 * 16 * vectors; }
};

// Totals of several rows, one behind the other: a row's begin at an even number, and behind the last row's there is room for
// kTotalsOverhang more, because they are read four at a time.
inline constexpr int kTotalsOverhang = 4;
constexpr std::int64_t totals_of_row(std::int64_t tiles) { return (tiles + 1) / 2 * 2; }
// Of all rows; a row of one tile needs none.
constexpr std::int64_t totals_of_rows(std::int64_t rows, std::int64_t tiles) {
  return tiles > 1 ? rows * totals_of_row(tiles) : 0;
}

// In front of the totals' states in the zeroed memory: blocks that are done, and tiles that are taken.
inline constexpr std::size_t kLookAheadTicketBytes = 16;

constexpr WorkspaceSpec look_ahead_workspace(std::int64_t rows, std::int64_t tiles, std::size_t total_bytes) {
  WorkspaceSpec spec;
  if (tiles > 1) spec = published_workspace(totals_of_rows(rows, tiles) + kTotalsOverhang, total_bytes);
  spec.zeroed_bytes += kLookAheadTicketBytes;
  return spec;
}

}  // namespace rooftile
