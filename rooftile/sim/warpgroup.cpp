#include "rooftile/sim/warpgroup.h"

#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {

std::string missing_warpgroup(unsigned warp) {
  constexpr unsigned kLanes = 32;
  const dim3& extent = current_block->block_dim;
  const unsigned threads = extent.x * extent.y * extent.z;
  if (threads >= (warp / kGroupWarps + 1) * kGroupWarps * kLanes) return {};
  return "warp " + std::to_string(warp) +
         " is in no whole warpgroup, four warps of which the first's number is a multiple of 4: the block has " +
         std::to_string(threads) + " threads";
}

}  // namespace rooftile::simt::detail
