// The polynomial, whatever holds its table.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/warp.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/access_constant_table.h"

namespace rooftile::ROOFTILE_TARGET::access_constant_rungs {

inline constexpr int kBlock = 256;
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();

struct Elements {
  const float* g_x;
  float* g_y;
  std::int64_t n;
  bool uniform;
};

inline Elements elements(const AccessConstantArgs& args) {
  return {static_cast<const float*>(args.x.data), static_cast<float*>(args.y.data), args.x.numel(),
          args.index == ConstantIndex::uniform};
}

inline LaunchConfig config_for(StreamRef stream, std::int64_t n) {
  return {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = stream};
}

// look_up(k): entry k of the table.
template <class LookUp>
__device__ __forceinline__ void evaluate(const Elements& e, LookUp look_up) {
  for (const std::int64_t i : grid_stride(e.n)) {
    const float x = e.g_x[i];
    const auto first = static_cast<unsigned>(e.uniform ? i / kWarpSize : i);
    float acc = 0.0f;
#pragma unroll 4
    for (unsigned r = 0; r < kTableSize; ++r) acc = fmaf(acc, x, look_up((first + r) % kTableSize));
    e.g_y[i] = acc;
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::access_constant_rungs
