// TMA's tile copies of the simulated SM: what device/sm90a/tma.h calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <source_location>

#include "rooftile/core/tensor_map_spec.h"
#include "rooftile/sim/bulk_copy.h"

namespace rooftile::simt::detail {

// A box at its coordinates.
struct Tile {
  Tile(const TensorMapSpec& map, const std::int32_t* coordinates, int coordinate_count)
      : spec(map), rank(coordinate_count) {
    for (int d = 0; d < rank; ++d) at[static_cast<std::size_t>(d)] = coordinates[d];
  }
  TensorMapSpec spec;
  std::array<std::int64_t, kMaxTensorMapRank> at{};
  int rank;  // that the kernel named
};

// Ends the launch when the map was not made or has another rank.
void check_tile(const Tile& tile, const char* operation, std::source_location where);

void tile_load(void* s_tile, const Tile& tile, std::uint64_t* barrier, std::source_location where);
void tile_load_multicast(void* s_tile, const Tile& tile, std::uint64_t* barrier, std::uint16_t blocks,
                         std::source_location where);
void tile_store(const Tile& tile, const void* s_tile, std::source_location where);
void tile_reduce(BulkReduction op, const Tile& tile, const void* s_tile, std::source_location where);

}  // namespace rooftile::simt::detail
