// Decoupled look-back: what stands in front of a tile, while the tiles in front still run.
//
// Source: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016).
#pragma once

#include <cstdint>

#include "rooftile/device/published.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// Of all lanes' values, in their order; every lane returns it.
template <class Acc, class Combine>
__device__ __forceinline__ Acc fold_lanes(Acc value, Combine combine ROOFTILE_AND_CALLER) {
  return warp_broadcast(warp_inclusive_scan(value, combine, kWarpSize ROOFTILE_AND_HERE), kWarpSize - 1,
                        kWarpSize ROOFTILE_AND_HERE);
}

// States of a tile: its total alone, or all up to and with it.
inline constexpr std::uint32_t kTileTotal = 1;
inline constexpr std::uint32_t kTilePrefix = 2;

// What tiles 0 ... tile - 1 combine to, by the lanes of one warp: 32 tiles at a time, the nearest first, up to one that has
// published its prefix. Publishes the tile's total, and what stands in front of it and the total together. Tiles: PublishedValues or
// PublishedCounts, of which the first tile's is number `first`. How far it looks back is a matter of time, and so is the
// order of rounding where `combine` rounds. Waits for tiles in front alone.
template <class Tiles, class Acc, class Combine>
__device__ __forceinline__ Acc prefix_in_chain(const Tiles& tiles, std::int64_t first, std::int64_t tile,
                                               Acc total, Acc identity, Combine combine) {
  const int lane = lane_index();
  if (lane == 0) tiles.publish(first + tile, total, tile == 0 ? kTilePrefix : kTileTotal);
  if (tile == 0) return identity;
  Acc in_front = identity;
  for (std::int64_t end = tile;; end -= kWarpSize) {
    const std::int64_t i = end - kWarpSize + lane;  // lane 31 looks at the nearest
    typename Tiles::Entry entry{kTilePrefix, identity};
    if (i >= 0) entry = tiles.wait(first + i);
    const unsigned prefixes = __ballot_sync(kFullMask, entry.state == kTilePrefix);
    const int nearest = kWarpSize - 1 - __clz(static_cast<int>(prefixes));  // -1: none
    in_front = combine(fold_lanes(lane < nearest ? identity : entry.value, combine), in_front);
    if (nearest >= 0) break;
  }
  if (lane == 0) tiles.publish(first + tile, combine(in_front, total), kTilePrefix);
  return in_front;
}

}  // namespace rooftile::ROOFTILE_TARGET
