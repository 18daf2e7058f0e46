// The frame of the tiles: a block of kX x kY threads copies kX x kY elements.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rooftile/device/launch.h"
#include "rooftile/lessons/access_tile/access_tile.h"

namespace rooftile::ROOFTILE_TARGET::access_tile_rungs {

inline constexpr std::int64_t kMostRowBlocks = 65535;  // a grid's extent in y; the kernels loop over the rest
inline constexpr std::int64_t kMostColumnBlocks = 2147483647;  // in x

struct Matrix {
  const float* g_x;
  float* g_y;
  std::int64_t rows;
  std::int64_t columns;
};

using TileKernel = void (*)(Matrix);

inline Status launch_tiles(TileKernel kernel, StreamRef stream, const AccessTileArgs& args, dim3 block,
                           int tile_rows, int tile_columns) {
  const Matrix a{static_cast<const float*>(args.x.data), static_cast<float*>(args.y.data), args.x.shape[0],
                 args.x.shape[1]};
  if (a.rows == 0 || a.columns == 0) return {};
  const std::int64_t across = (a.columns - 1) / tile_columns + 1;
  if (across > kMostColumnBlocks) return unsupported("more columns of tiles than a grid has blocks in x");
  const std::int64_t down = std::min((a.rows - 1) / tile_rows + 1, kMostRowBlocks);
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(across), static_cast<unsigned>(down)),
                 .block = block,
                 .stream = stream},
                a);
}

// Lanes along a row: thread (x, y) of the block takes column x and row y of its tile.
template <int kX, int kY>
__device__ __forceinline__ void copy_along_rows(const Matrix& a) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kX + threadIdx.x;
  if (column >= a.columns) return;
  for (std::int64_t row = std::int64_t{blockIdx.y} * kY + threadIdx.y; row < a.rows;
       row += std::int64_t{gridDim.y} * kY) {
    a.g_y[row * a.columns + column] = a.g_x[row * a.columns + column];
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::access_tile_rungs
