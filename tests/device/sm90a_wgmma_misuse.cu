#include "tests/device/sm90a_wgmma_misuse.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/matrix_descriptor.h"
#include "rooftile/device/sm90a/wgmma.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

constexpr int kTileBytes = 64 * 64;  // of 64 rows of 32 halves
constexpr std::uint32_t kOnes = 0x3c003c00u;
constexpr std::uint32_t kTwos = 0x40004000u;

__global__ void misuse_kernel(WgmmaMisuse misuse, float* g_out) {
  ROOFTILE_DYN_SHARED(std::byte, s_tile);
  auto* s_words = reinterpret_cast<std::uint32_t*>(s_tile);
  const auto t = static_cast<int>(threadIdx.x);
  const auto threads = static_cast<int>(blockDim.x);
  const auto fill = [&](std::uint32_t pair) {
    for (int i = t; i < kTileBytes / 4; i += threads) s_words[i] = pair;
    fence_proxy_async<FenceSpace::shared_block>();
    __syncthreads();  // the tile is complete
  };
  fill(kOnes);
  const std::uint32_t stride = misuse == WgmmaMisuse::distance_of_8_bytes ? 8
                               : misuse == WgmmaMisuse::operand_outside   ? 1024
                                                                          : 512;
  const auto tile = make_matrix_descriptor<MatrixMajor::k>(
      s_tile + (misuse == WgmmaMisuse::misaligned_tile ? 256 : 0), TileSwizzle::bytes64, 16, stride);
  std::uint32_t a[4] = {kOnes, kOnes, kOnes, kOnes};
  float sums[32];
  for (float& sum : sums) sum = 5;
  wgmma_fence(sums);
  if (misuse == WgmmaMisuse::one_warp_multiplies_otherwise && t / 32 == 2) {
    wgmma<__half>(sums, tile.advanced(32), tile, true);
  } else {
    wgmma<__half>(sums, tile, tile, true);
  }
  if (misuse != WgmmaMisuse::never_committed &&
      (misuse != WgmmaMisuse::one_warp_does_not_commit || t / 32 != 1))
    wgmma_commit();
  wgmma<__half>(sums, a, tile, true);
  if (misuse != WgmmaMisuse::never_committed) wgmma_commit();
  float first = 0;
  if (misuse == WgmmaMisuse::read_before_wait) first = sums[0];
  if (misuse == WgmmaMisuse::operand_overwritten) fill(kTwos);
  if (misuse == WgmmaMisuse::fragment_overwritten) a[0] = a[1] = kTwos;
  if (misuse == WgmmaMisuse::newest_group_read) {
    wgmma_wait<1>(sums);
    first = sums[0];
  }
  if (misuse == WgmmaMisuse::never_waited) return;
  wgmma_wait<0>(sums);
  if (misuse != WgmmaMisuse::read_before_wait && misuse != WgmmaMisuse::newest_group_read) first = sums[0];
  g_out[t] = first;
}

}  // namespace

Status run_wgmma_misuse(StreamRef stream, WgmmaMisuse misuse, float* g_out) {
  const unsigned threads = misuse == WgmmaMisuse::no_warpgroup ? 96 : kWgmmaMisuseThreads;
  return launch(misuse_kernel, {.block = threads, .shared_bytes = kTileBytes, .stream = stream}, misuse,
                g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET
