#include "tests/device/blocks/mma_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/mma.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

template <class T, int kDepth>
__global__ void mma_kernel(const std::uint32_t* g_a, const std::uint32_t* g_b, const float* g_c, float* g_d) {
  constexpr int kA = kDepth / 4;
  constexpr int kB = kDepth / 8;
  const int lane = lane_index();
  std::uint32_t a[kA];
  std::uint32_t b[kB];
  float c[4];
  float d[4];
  for (int i = 0; i < kA; ++i) a[i] = g_a[lane * kA + i];
  for (int i = 0; i < kB; ++i) b[i] = g_b[lane * kB + i];
  for (int i = 0; i < 4; ++i) c[i] = g_c[lane * 4 + i];
  if constexpr (kDepth == 16) {
    mma_m16n8k16<T>(d, a, b, c);
  } else {
    mma_m16n8k8<T>(d, a, b, c);
  }
  for (int i = 0; i < 4; ++i) g_d[lane * 4 + i] = d[i];
}

__global__ void mma_chain_kernel(int times, const std::uint32_t* g_a, const std::uint32_t* g_b, float* g_d) {
  const int lane = lane_index();
  std::uint32_t a[4];
  std::uint32_t b[2];
  float sums[4] = {};
  for (int i = 0; i < 4; ++i) a[i] = g_a[lane * 4 + i];
  for (int i = 0; i < 2; ++i) b[i] = g_b[lane * 2 + i];
  for (int time = 0; time < times; ++time) mma_m16n8k16<__half>(sums, a, b, sums);
  for (int i = 0; i < 4; ++i) g_d[(threadIdx.x) * 4 + i] = sums[i];
}

}  // namespace

Status run_mma(StreamRef stream, MmaForm form, const std::uint32_t* g_a, const std::uint32_t* g_b,
               const float* g_c, float* g_d) {
  const auto run = [&](auto* kernel) {
    return launch(kernel, {.block = kWarpSize, .stream = stream}, g_a, g_b, g_c, g_d);
  };
  if (form.bfloat)
    return form.depth == 16 ? run(mma_kernel<__nv_bfloat16, 16>) : run(mma_kernel<__nv_bfloat16, 8>);
  return form.depth == 16 ? run(mma_kernel<__half, 16>) : run(mma_kernel<__half, 8>);
}

Status run_mma_chain(StreamRef stream, int times, const std::uint32_t* g_a, const std::uint32_t* g_b,
                     float* g_d) {
  return launch(mma_chain_kernel, {.block = 2 * kWarpSize, .stream = stream}, times, g_a, g_b, g_d);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
