#include "tests/device/blocks/ldmatrix_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/ldmatrix.h"
#include "rooftile/device/sm80/mma.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

template <int kMatrices, bool kTransposed>
__global__ void ldmatrix_kernel(const std::uint32_t* g_in, const std::uint32_t* g_rows,
                                std::uint32_t* g_out) {
  __shared__ __align__(16) std::uint32_t s_memory[kMatrixMemory / 4];
  const int lane = lane_index();
  for (int i = lane; i < kMatrixMemory / 4; i += kWarpSize) s_memory[i] = g_in[i];
  __syncwarp();  // the memory is complete
  const auto* s_row = reinterpret_cast<const unsigned char*>(s_memory) + g_rows[lane];
  std::uint32_t r[kMatrices];
  if constexpr (kTransposed) {
    ldmatrix_transposed(r, s_row);
  } else {
    ldmatrix(r, s_row);
  }
  for (int i = 0; i < kMatrices; ++i) g_out[lane * kMatrices + i] = r[i];
}

__global__ void ldmatrix_mma_kernel(const std::uint16_t* g_a, const std::uint16_t* g_b, float* g_out) {
  constexpr int kPitchA = 24;  // halves: rows start 12 banks apart
  constexpr int kPitchB = 8;
  __shared__ __align__(16) std::uint16_t s_a[16 * kPitchA];
  __shared__ __align__(16) std::uint16_t s_b[16 * kPitchB];
  const int lane = lane_index();
  for (int i = lane; i < 256; i += kWarpSize) s_a[i / 16 * kPitchA + i % 16] = g_a[i];
  for (int i = lane; i < 128; i += kWarpSize) s_b[i] = g_b[i];
  __syncwarp();  // both are complete
  std::uint32_t a[4];
  std::uint32_t b[2];
  float sums[4] = {};
  ldmatrix(a, &s_a[lane % 16 * kPitchA + lane / 16 * 8]);
  ldmatrix_transposed(b, &s_b[lane % 16 * kPitchB]);
  mma_m16n8k16<__half>(sums, a, b, sums);
  for (int i = 0; i < 4; ++i) g_out[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = sums[i];
}

__global__ void misused_kernel(LdmatrixMisuse misuse, const std::uint16_t* g_rows) {
  __shared__ __align__(16) std::uint16_t s_rows[256];
  std::uint32_t r[1];
  ldmatrix(r, misuse == LdmatrixMisuse::misaligned ? &s_rows[lane_index() * 2] : &g_rows[lane_index() * 8]);
}

}  // namespace

Status run_ldmatrix(StreamRef stream, int matrices, bool transposed, const std::uint32_t* g_in,
                    const std::uint32_t* g_rows, std::uint32_t* g_out) {
  const auto run = [&](auto* kernel) {
    return launch(kernel, {.block = kWarpSize, .stream = stream}, g_in, g_rows, g_out);
  };
  switch (matrices) {
    case 1:
      return transposed ? run(ldmatrix_kernel<1, true>) : run(ldmatrix_kernel<1, false>);
    case 2:
      return transposed ? run(ldmatrix_kernel<2, true>) : run(ldmatrix_kernel<2, false>);
    default:
      return transposed ? run(ldmatrix_kernel<4, true>) : run(ldmatrix_kernel<4, false>);
  }
}

Status run_ldmatrix_mma(StreamRef stream, const std::uint16_t* g_a, const std::uint16_t* g_b, float* g_out) {
  return launch(ldmatrix_mma_kernel, {.block = kWarpSize, .stream = stream}, g_a, g_b, g_out);
}

Status run_misused_ldmatrix(StreamRef stream, LdmatrixMisuse misuse, const std::uint16_t* g_rows) {
  return launch(misused_kernel, {.block = kWarpSize, .stream = stream}, misuse, g_rows);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
