// How a call is cut into tiles, and what the table, choose() and the launchers know of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/look_ahead_plan.h"
#include "rooftile/core/workspace.h"
#include "rooftile/ops/select/select.h"

namespace rooftile::select_plan {

// A tile: kTileWarps warps, each with `vectors` of 32 lanes' 16 bytes one behind the other.
inline constexpr int kVectorBytes = 16;
inline constexpr int kTileWarps = 8;
inline constexpr int kSmallVectors = 1;
// Of bytes fewer: 64 of them in a thread's registers would be an instruction or two each.
constexpr int large_vectors(std::size_t element) { return element == 1 ? 2 : 4; }
constexpr std::int64_t tile_bytes(int vectors) {
  return std::int64_t{kTileWarps} * 32 * kVectorBytes * vectors;
}

// look_ahead. On an H200, i32 2^28, cold, 1, 50 and 99 % chosen, warps x vectors, stages and tiles ahead: 16 x 4, 7, 3 404, 496
// and 550 us, 14 x 4, 8, 4 458, 553 and 549; with a second warp that looks back 16 x 4 takes 414, 519 and 615.
constexpr LookAheadRing ring_of(std::size_t element) {
  return element == 1 ? LookAheadRing{.warps = 16, .vectors = 2, .stages = 12, .ahead = 6}
                      : LookAheadRing{.warps = 16, .vectors = 4, .stages = 7, .ahead = 3};
}

inline constexpr int kAtomicThreads = 256;  // of a block of unordered_atomics, an element each
inline constexpr int kSumThreads = 1024;    // of the one block that adds up scan_based's counts

struct Cut {
  std::int64_t tiles = 1;
  std::int64_t vectors = 0;
};
// Into tiles of so many bytes, of elements that may begin anywhere to a 16-byte boundary.
inline Cut cut_bytes(std::int64_t n, std::size_t element, std::int64_t bytes) {
  const auto size = static_cast<std::int64_t>(element);
  const std::int64_t skew = kVectorBytes / size - 1;
  return {.tiles = larger(1, ceil_div(n + skew, bytes / size))};
}
inline Cut cut_of(std::int64_t n, std::size_t element, int vectors) {
  Cut cut = cut_bytes(n, element, tile_bytes(vectors));
  cut.vectors = vectors;
  return cut;
}

// Of a call whose tiles publish counts: a ticket, and a word for each tile.
inline constexpr std::size_t kTicketBytes = 16;
constexpr WorkspaceSpec tile_workspace(std::int64_t tiles) {
  return {.zeroed_bytes = kTicketBytes + 8 * static_cast<std::size_t>(tiles)};
}

// Whether a call chooses by flags.
inline bool by_flags(const SelectArgs& args) {
  return args.op == SelectOp::flagged || (args.op == SelectOp::partition && args.flags.rank() > 0);
}

// Integers above a threshold, as unsigned keys: a signed integer with its sign bit turned over is in the order of unsigned
// ones. Chosen are the keys from `least` on, and none where there is no such key.
struct KeyLimit {
  std::uint64_t least = 0;
  bool any = false;
};
[[nodiscard]] KeyLimit limit_of_integers(DType dtype, double threshold);
// x > threshold for every float x exactly where x > this.
[[nodiscard]] float limit_of_floats(double threshold);

}  // namespace rooftile::select_plan
