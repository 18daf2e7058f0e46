// A column per thread; what is done with it once it is kept.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/lessons/access_registers/access_registers.h"

namespace rooftile::ROOFTILE_TARGET::access_registers_rungs {

inline constexpr int kBlock = 256;
inline constexpr int kRows = 64;
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();

inline LaunchConfig config_for(StreamRef stream, std::int64_t columns) {
  return {.grid = dim3(grid_blocks(columns, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = stream};
}

inline const float* x_of(const AccessRegistersArgs& args) { return static_cast<const float*>(args.x.data); }
inline float* y_of(const AccessRegistersArgs& args) { return static_cast<float*>(args.y.data); }

// The columns of this thread, each read once into an array whose indices are all known.
__device__ __forceinline__ void subtract_largest(const float* g_x, float* g_y, std::int64_t columns) {
  for (const std::int64_t column : grid_stride(columns)) {
    float r_column[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) r_column[k] = g_x[k * columns + column];
    float largest = r_column[0];
#pragma unroll
    for (int k = 1; k < kRows; ++k) largest = fmaxf(largest, r_column[k]);
#pragma unroll
    for (int k = 0; k < kRows; ++k) g_y[k * columns + column] = r_column[k] - largest;
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::access_registers_rungs
