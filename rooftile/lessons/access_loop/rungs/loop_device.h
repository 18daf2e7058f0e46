// The loop, and what its rungs share.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/warp.h"
#include "rooftile/lessons/access_loop/access_loop.h"

namespace rooftile::ROOFTILE_TARGET::access_loop_rungs {

inline constexpr int kMostTrips = 32;                  // element i takes i % 32 steps
inline constexpr int kBlock = kMostTrips * kWarpSize;  // a warp for each number of steps
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();

__device__ __forceinline__ float after_steps(float v, int steps) {
#pragma unroll 1
  for (int step = 0; step < steps; ++step) v = (v + 1.0f) / (2.0f + fabsf(v));
  return v;
}

}  // namespace rooftile::ROOFTILE_TARGET::access_loop_rungs
