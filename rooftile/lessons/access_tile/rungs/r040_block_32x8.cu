// Blocks of (32, 8) threads.
//
// Idea       a warp along a row: one piece of 128 bytes.
// Change     the block is as wide as a warp.
// Bottleneck bytes in flight: 4 per thread.
// Source     CUDA C++ Best Practices Guide, thread and block heuristics.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_tile/access_tile.h"
#include "rooftile/lessons/access_tile/rungs/tile_device.h"

namespace rooftile::ROOFTILE_TARGET::access_tile_rungs {
namespace {

constexpr int kX = 32;
constexpr int kY = 8;

__global__ void __launch_bounds__(kX* kY) block_32x8_kernel(Matrix a) { copy_along_rows<kX, kY>(a); }

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessTileArgs>& call) {
  return launch_tiles(block_32x8_kernel, call.stream, call.args, dim3(kX, kY), kY, kX);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_tile_rungs
