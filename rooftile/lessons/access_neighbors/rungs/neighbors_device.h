// The frame of the neighbours: a block of 8 x 8 x 8 threads is a brick of the volume, a warp 4 rows of 8 of
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "rooftile/device/launch.h"
#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/lessons/access_neighbors/access_neighbors.h"

namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs {

inline constexpr int kSide = 8;
inline constexpr int kBlock = kSide * kSide * kSide;
inline constexpr int kWarpRows = kWarpSize / kSide;  // of a warp: lane l is row l / 8, column l % 8

struct Volume {
  const float* g_x;
  float* g_y;
  std::int64_t d, m, n;
  std::int64_t bricks_m, bricks_n, bricks;  // along m, along n, all
};

// Where this warp stands: the points of its lanes.
struct WarpPlace {
  std::int64_t z, row, column;  // of lane 0
};

__device__ __forceinline__ int lane_of_brick() {
  return static_cast<int>(threadIdx.x + kSide * threadIdx.y) % kWarpSize;
}

__device__ __forceinline__ WarpPlace place_warp(const Volume& a, std::int64_t brick) {
  const std::int64_t across = brick % a.bricks_n;
  const std::int64_t down = brick / a.bricks_n;
  const int half = static_cast<int>(threadIdx.y) / kWarpRows;  // a layer of the brick has two warps
  return {down / a.bricks_m * kSide + threadIdx.z, down % a.bricks_m * kSide + half * kWarpRows,
          across * kSide};
}

// The index of the point of a lane; -1 outside of the volume.
__device__ __forceinline__ std::int64_t point_of_lane(const Volume& a, const WarpPlace& warp, int lane) {
  const std::int64_t row = warp.row + lane / kSide;
  const std::int64_t column = warp.column + lane % kSide;
  return warp.z < a.d && row < a.m && column < a.n ? (warp.z * a.m + row) * a.n + column : -1;
}

__device__ __forceinline__ float load_point(const Volume& a, std::int64_t point) {
  return point < 0 ? 0.0f : a.g_x[point];
}

using VolumeKernel = void (*)(Volume);

inline Status launch_bricks(VolumeKernel kernel, StreamRef stream, const AccessNeighborsArgs& args) {
  if (args.x.numel() == 0) return {};
  const auto bricks_along = [&](int dimension) { return (args.x.shape[dimension] - 1) / kSide + 1; };
  Volume a{static_cast<const float*>(args.x.data),
           static_cast<float*>(args.y.data),
           args.x.shape[0],
           args.x.shape[1],
           args.x.shape[2],
           bricks_along(1),
           bricks_along(2),
           0};
  a.bricks = bricks_along(0) * a.bricks_m * a.bricks_n;
  // The kernels loop over what is more.
  const std::int64_t blocks = std::min<std::int64_t>(a.bricks, std::numeric_limits<int>::max());
  return launch(
      kernel,
      {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kSide, kSide, kSide), .stream = stream}, a);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_neighbors_rungs
