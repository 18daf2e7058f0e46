// The lesson rungs' frame: 4-byte items, tiles of 32 x 32, a warp per row, 256 threads.
#pragma once

#include "rooftile/ops/transpose/rungs/transpose_device.h"

namespace rooftile::ROOFTILE_TARGET::transpose_rungs {

inline constexpr int kLessonTile = 32;  // a warp's width: 128 bytes of 4-byte items
inline constexpr int kLessonBlock = 256;
inline constexpr int kLessonWarps = kLessonBlock / kWarpSize;
static_assert(kLessonTile == kWarpSize, "a warp takes one row of the tile");

using LessonKernel = void (*)(Matrices, TileGrid);

inline Status launch_lesson(LessonKernel kernel, StreamRef stream, const TransposeArgs& args) {
  const Geometry g = transpose_plan::geometry(args);
  if (g.items() == 0) return {};
  ROOFTILE_TRY_ASSIGN(const TileGrid grid, (tile_grid<kLessonTile, kLessonTile>(g)));
  return launch(kernel, {.grid = dim3(tile_blocks(grid, g)), .block = dim3(kLessonBlock), .stream = stream},
                matrices(args, g), grid);
}

__device__ __forceinline__ Tile place_lesson_tile(const Matrices& a, const TileGrid& grid) {
  return place_tile<kLessonTile, kLessonTile>(a, grid, sizeof(float));
}

__device__ __forceinline__ const float* item_of_in(const Matrices& a, const Tile& tile, int row, int column) {
  return reinterpret_cast<const float*>(tile.in + row * a.in_row) + column;
}
__device__ __forceinline__ float* item_of_out(const Matrices& a, const Tile& tile, int row, int column) {
  return reinterpret_cast<float*>(tile.out + row * a.out_row) + column;
}

// In through a tile in shared memory with rows of kPitch words, out again by columns.
template <int kPitch>
__device__ __forceinline__ void transpose_lesson_tile(const Matrices& a, const TileGrid& grid,
                                                      float (&s_tile)[kLessonTile][kPitch]) {
  const Tile tile = place_lesson_tile(a, grid);
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  for (int row = warp; row < kLessonTile; row += kLessonWarps) {
    if (row < tile.rows && lane < tile.columns) s_tile[row][lane] = *item_of_in(a, tile, row, lane);
  }
  __syncthreads();  // the tile is complete
  for (int row = warp; row < kLessonTile; row += kLessonWarps) {
    if (row < tile.columns && lane < tile.rows) *item_of_out(a, tile, row, lane) = s_tile[lane][row];
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::transpose_rungs
