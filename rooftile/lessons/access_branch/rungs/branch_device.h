// The two ways of the branch.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/lessons/access_branch/access_branch.h"

namespace rooftile::ROOFTILE_TARGET::access_branch_rungs {

inline constexpr int kBlock = 256;
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();
inline constexpr int kSteps = 32;

// Loops stay loops, so that the two ways are two pieces of code.
__device__ __forceinline__ float even_way(float v) {
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) v = fmaf(v, 0.5f, 0.25f);
  return v;
}

__device__ __forceinline__ float odd_way(float v) {
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) v = (v + 1.0f) / (2.0f + fabsf(v));
  return v;
}

}  // namespace rooftile::ROOFTILE_TARGET::access_branch_rungs
