// TMA's tiles in the checked build's tests: host functions that launch once.
#pragma once

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

#if !defined(ROOFTILE_TARGET)
#define ROOFTILE_TARGET checked  // the tests themselves, which are host code, call the checked kernels
#endif

namespace rooftile::ROOFTILE_TARGET::checked_tests {

inline constexpr int kTileRows = 32;
inline constexpr int kTileHalves = 8;  // of a row
inline constexpr int kTileRounds = 2;

enum class TileBug {
  none_store,
  store_without_fence,
  store_uninitialised,
  store_overwritten,
  store_read_back_early,
  store_not_committed,
  none_multicast,
  multicast_not_waited,
  multicast_over_other_block,
  multicast_to_itself_alone,
};
// Stores: one warp puts a tile of 32 x 8 halves together by stmatrix and stores it to g_out. Multicasts: one cluster of two
// blocks reads kTileRounds tiles of g_in, one after the other through one stage, and sums each thread's half up in
// g_sums[block][thread].
Status run_tile_bug(StreamRef stream, TileBug bug, unsigned short* g_in, unsigned short* g_out,
                    float* g_sums);

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
