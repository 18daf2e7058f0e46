// How a call is cut into tiles: what the table, choose() and the launchers share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/integers.h"
#include "rooftile/core/look_ahead_plan.h"
#include "rooftile/core/published_plan.h"
#include "rooftile/ops/scan/scan.h"

namespace rooftile::scan_plan {

// The rungs with Blelloch's tree: two elements to a thread.
inline constexpr int kTreeThreads = 1024;
inline constexpr int kTreeElements = 2 * kTreeThreads;
inline constexpr int kShuffleElements = 1024;  // of a block of warp_shuffle_recursive

// A tile: kTileWarps warps, each with kVectors of 32 lanes' 16 bytes one behind the other.
inline constexpr int kVectorBytes = 16;
inline constexpr int kTileWarps = 8;
inline constexpr int kVectors = 4;
constexpr std::int64_t tile_bytes(int vectors) {
  return std::int64_t{kTileWarps} * 32 * kVectorBytes * vectors;
}
inline constexpr std::int64_t kTileBytes = tile_bytes(kVectors);

// flat_lookback: a tile reads the totals of all in front of it in its row; half as many, twice as large ones, are read sooner.
// A thread's 128 bytes would be too many registers of elements of 1 and 2 bytes. scan_with() takes it for a call of up to
// kFlatTiles.
constexpr int flat_vectors(std::size_t element) { return element <= 2 ? kVectors : 2 * kVectors; }
inline constexpr std::int64_t kFlatTiles = 512;

// cluster_rows: the blocks of a cluster, a tile each.
inline constexpr int kClusterTiles = 16;

// look_ahead. Bytes: half a tile, or a thread's 64 elements spill. On an H200, f32 2^28, cold, warps x vectors, stages and
// tiles ahead: 14 x 4, 8, 4 529 us; 12 x 4, 9, 5 540; 16 x 4, 7, 3 544; a second warp that looks back 547.
constexpr LookAheadRing ring_of(std::size_t element) {
  return element == 1 ? LookAheadRing{.warps = 16, .vectors = 2, .stages = 12, .ahead = 6}
                      : LookAheadRing{.warps = 14, .vectors = 4, .stages = 8, .ahead = 4};
}

// warp_per_row: a longer row keeps too few threads busy.
inline constexpr std::int64_t kWarpRowBytes = 65536;

// Tiles meet in a tree of 32 branches: level 0 has a node for each tile of a row, level l for 32^l of them.
inline constexpr int kBranches = 32;
inline constexpr int kMostLevels = 6;
struct TileTree {
  int levels = 0;                                  // 0: a row is one tile
  std::array<std::int64_t, kMostLevels> starts{};  // of each level among a row's nodes
  std::int64_t nodes = 0;                          // of a row
};
constexpr TileTree tree_of(std::int64_t tiles) {
  TileTree tree;
  while (tiles > 1) {
    tree.starts[static_cast<std::size_t>(tree.levels++)] = tree.nodes;
    tree.nodes += tiles;
    tiles = tiles > kBranches ? ceil_div(tiles, kBranches) : 1;
  }
  return tree;
}

struct Rows {
  std::int64_t count = 0;
  std::int64_t length = 0;
};
inline Rows rows_of(const ScanArgs& args) {
  const std::int64_t length = args.in.rank() == 0 ? 0 : args.in.shape[args.in.rank() - 1];
  return {length == 0 ? 0 : args.in.numel() / length, length};
}

struct Cut {
  Rows rows;
  std::int64_t tiles = 1;  // of a row
  TileTree tree{};
};
// Into tiles of so many bytes, of rows that may begin anywhere to a 16-byte boundary.
[[nodiscard]] Cut cut_rows(const Rows& rows, std::size_t element, std::int64_t tile_bytes = kTileBytes);
// Precondition: the call has passed scan's checks.
[[nodiscard]] Cut cut_tiles(const ScanArgs& args, std::int64_t tile_bytes = kTileBytes);

// What a call accumulates in has so many bytes.
inline std::size_t accumulator_bytes(DType dtype) { return size_of(dtype) < 4 ? 4 : size_of(dtype); }

// Of a call whose tiles publish values to each other: a ticket, a state for each node, and the values that share no word
// with theirs (device/published.h).
inline constexpr std::size_t kTicketBytes = 16;  // blocks that are done, and tiles that are taken
constexpr WorkspaceSpec node_workspace(std::int64_t nodes, std::size_t accumulator) {
  if (nodes == 0) return {};
  WorkspaceSpec spec = published_workspace(nodes, accumulator);
  spec.zeroed_bytes += kTicketBytes;
  return spec;
}

}  // namespace rooftile::scan_plan
