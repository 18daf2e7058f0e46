// Blocks of (8, 32) threads.
//
// Idea       eight lanes along a row: a warp covers 32 bytes of each of four rows.
// Change     threadIdx.x counts columns.
// Bottleneck each of the four pieces touches two sectors unless the row begins at a multiple of 32 bytes.
// Source     CUDA C++ Best Practices Guide, thread and block heuristics.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_tile/access_tile.h"
#include "rooftile/lessons/access_tile/rungs/tile_device.h"

namespace rooftile::ROOFTILE_TARGET::access_tile_rungs {
namespace {

constexpr int kX = 8;
constexpr int kY = 32;

__global__ void __launch_bounds__(kX* kY) block_8x32_kernel(Matrix a) { copy_along_rows<kX, kY>(a); }

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessTileArgs>& call) {
  return launch_tiles(block_8x32_kernel, call.stream, call.args, dim3(kX, kY), kY, kX);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_tile_rungs
