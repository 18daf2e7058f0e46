// mma, ldmatrix and stmatrix; the comments BUG name the line that a report must give.
#include "tests/checked/fragment_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/mma.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kBlock = 64;

__global__ void mma_kernel(FragmentBug bug, const unsigned short* g_in, float* g_out) {
  const int lane = lane_index();
  std::uint32_t a[4];
  std::uint32_t b[2];
  float sums[4] = {};
  for (std::uint32_t& pair : a) pair = g_in[lane] * 0x10001u;
  for (std::uint32_t& pair : b) pair = g_in[lane] * 0x10001u;
  if (bug == FragmentBug::mma_missing_lane && lane == 7) return;
  if (bug == FragmentBug::mma_two_lines && lane >= 16) {
    mma_m16n8k16<__half>(sums, a, b, sums);
  } else {
    mma_m16n8k16<__half>(sums, a, b, sums);  // BUG mma
  }
  for (int i = 0; i < 4; ++i) g_out[threadIdx.x * 4 + i] = sums[i];
}

}  // namespace

Status run_fragment_bug(StreamRef stream, FragmentBug bug, const unsigned short* g_in, float* g_out) {
  return launch(mma_kernel, {.block = kBlock, .stream = stream}, bug, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
