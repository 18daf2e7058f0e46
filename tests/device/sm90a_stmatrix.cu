#include "tests/device/sm90a_stmatrix.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/stmatrix.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

template <int kMatrices, bool kTransposed>
__global__ void stmatrix_kernel(const std::uint32_t* g_in, const std::uint32_t* g_rows,
                                std::uint32_t* g_out) {
  __shared__ __align__(16) std::uint32_t s_memory[kStmatrixMemory / 4];
  const int lane = lane_index();
  for (int i = lane; i < kStmatrixMemory / 4; i += kWarpSize) s_memory[i] = 0;
  __syncwarp();  // zeros
  std::uint32_t r[kMatrices];
  for (int i = 0; i < kMatrices; ++i) r[i] = g_in[lane * kMatrices + i];
  auto* s_row = reinterpret_cast<unsigned char*>(s_memory) + g_rows[lane];
  if constexpr (kTransposed) {
    stmatrix_transposed(s_row, r);
  } else {
    stmatrix(s_row, r);
  }
  __syncwarp();  // all rows are there
  for (int i = lane; i < kStmatrixMemory / 4; i += kWarpSize) g_out[i] = s_memory[i];
}

Status run_store(StreamRef stream, int matrices, bool transposed, const std::uint32_t* g_in,
                 const std::uint32_t* g_rows, std::uint32_t* g_out) {
  const auto run = [&](auto* kernel) {
    return launch(kernel, {.block = kWarpSize, .stream = stream}, g_in, g_rows, g_out);
  };
  switch (matrices) {
    case 1:
      return transposed ? run(stmatrix_kernel<1, true>) : run(stmatrix_kernel<1, false>);
    case 2:
      return transposed ? run(stmatrix_kernel<2, true>) : run(stmatrix_kernel<2, false>);
    default:
      return transposed ? run(stmatrix_kernel<4, true>) : run(stmatrix_kernel<4, false>);
  }
}

}  // namespace

StmatrixKernels stmatrix_test_kernels() { return {run_store}; }

}  // namespace rooftile::ROOFTILE_TARGET
