#include "tests/device/blocks/swizzle_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/swizzle.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

constexpr int kTile = 32;

__global__ void swizzle_bytes_kernel(std::uint32_t* g_out) {
  for (std::uint32_t i = threadIdx.x; i < kSwizzleOffsets; i += blockDim.x) {
    g_out[i] = swizzle_bytes<32>(i);
    g_out[kSwizzleOffsets + i] = swizzle_bytes<64>(i);
    g_out[2 * kSwizzleOffsets + i] = swizzle_bytes<128>(i);
  }
}

template <bool kSwizzled>
__global__ void tile_transpose_kernel(const float* g_in, float* g_out) {
  __shared__ float s_tile[kTile][kTile];
  const int lane = static_cast<int>(threadIdx.x);
  const auto place = [](int row, int column) {
    return kSwizzled ? swizzled_column<kTile>(row, column) : column;
  };
  for (int row = 0; row < kTile; ++row) {
    s_tile[row][place(row, lane)] = g_in[row * kTile + lane];
  }
  __syncthreads();  // the tile is complete
  for (int column = 0; column < kTile; ++column) {
    g_out[column * kTile + lane] = s_tile[lane][place(lane, column)];
  }
}

}  // namespace

Status run_swizzle_bytes(StreamRef stream, std::uint32_t* g_out) {
  return launch(swizzle_bytes_kernel, {.block = 128, .stream = stream}, g_out);
}

Status run_tile_transpose(StreamRef stream, bool swizzled, const float* g_in, float* g_out) {
  const LaunchConfig config{.block = kTile, .stream = stream};
  return swizzled ? launch(tile_transpose_kernel<true>, config, g_in, g_out)
                  : launch(tile_transpose_kernel<false>, config, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
