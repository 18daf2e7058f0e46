// ThreadIdx.x counts rows.
//
// Idea       none: the first index of the matrix is given the first index of the thread.
// Bottleneck every lane of a request is in a row of its own: 32 sectors for 128 bytes.
// Source     a matrix sum whose row is threadIdx.x, as introductions to CUDA often print it.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_tile/access_tile.h"
#include "rooftile/lessons/access_tile/rungs/tile_device.h"

namespace rooftile::ROOFTILE_TARGET::access_tile_rungs {
namespace {

constexpr int kX = 32;
constexpr int kY = 8;

__global__ void __launch_bounds__(kX* kY) lanes_along_columns_kernel(Matrix a) {
  const std::int64_t column = std::int64_t{blockIdx.x} * kY + threadIdx.y;
  if (column >= a.columns) return;
  for (std::int64_t row = std::int64_t{blockIdx.y} * kX + threadIdx.x; row < a.rows;
       row += std::int64_t{gridDim.y} * kX) {
    a.g_y[row * a.columns + column] = a.g_x[row * a.columns + column];
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessTileArgs>& call) {
  return launch_tiles(lanes_along_columns_kernel, call.stream, call.args, dim3(kX, kY), kX, kY);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_tile_rungs
