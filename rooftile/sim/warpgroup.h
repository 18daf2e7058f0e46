// Warpgroups: four warps of which the first's number in the block is a multiple of 4.
#pragma once

#include <string>

namespace rooftile::simt::detail {

inline constexpr unsigned kGroupWarps = 4;
inline constexpr unsigned kMostGroupedWarps = 32;  // of a block

// What is wrong with a call that only whole warpgroups make, by this warp of the current block; or nothing.
[[nodiscard]] std::string missing_warpgroup(unsigned warp);

}  // namespace rooftile::simt::detail
