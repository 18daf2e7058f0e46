// Blocks of (16, 16) threads.
//
// Idea       sixteen lanes along a row: a warp covers 64 bytes of each of two rows.
// Change     the block is wider and lower, with as many threads.
// Bottleneck two pieces, each with one sector too many where rows begin anywhere.
// Source     CUDA C++ Best Practices Guide, thread and block heuristics.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_tile/access_tile.h"
#include "rooftile/lessons/access_tile/rungs/tile_device.h"

namespace rooftile::ROOFTILE_TARGET::access_tile_rungs {
namespace {

constexpr int kX = 16;
constexpr int kY = 16;

__global__ void __launch_bounds__(kX* kY) block_16x16_kernel(Matrix a) { copy_along_rows<kX, kY>(a); }

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessTileArgs>& call) {
  return launch_tiles(block_16x16_kernel, call.stream, call.args, dim3(kX, kY), kY, kX);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_tile_rungs
