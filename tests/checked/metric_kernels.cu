// Kernels whose requests, sectors and conflicts are known by hand.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kBlock = 256;
constexpr int kTile = 32;
constexpr int kRows = 8;

__global__ void strided_copy_kernel(int stride, const float* __restrict__ g_in, float* __restrict__ g_out) {
  const std::int64_t i = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * stride;
  g_out[i] = g_in[i];
}

__global__ void float4_copy_kernel(const float4* __restrict__ g_in, float4* __restrict__ g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  g_out[i] = g_in[i];
}

__global__ void naive_transpose_kernel(int n, const float* __restrict__ g_in, float* __restrict__ g_out) {
  const int column = static_cast<int>(blockIdx.x) * kTile + static_cast<int>(threadIdx.x);
  const int first = static_cast<int>(blockIdx.y) * kTile + static_cast<int>(threadIdx.y);
  for (int row = first; row < first + kTile; row += kRows) g_out[column * n + row] = g_in[row * n + column];
}

template <int kPadding>
__global__ void tiled_transpose_kernel(int n, const float* __restrict__ g_in, float* __restrict__ g_out) {
  __shared__ float s_tile[kTile][kTile + kPadding];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int column = static_cast<int>(blockIdx.x) * kTile;
  const int row = static_cast<int>(blockIdx.y) * kTile;
  for (int r = y; r < kTile; r += kRows) {
    s_tile[r][x] = g_in[(row + r) * n + column + x];
  }
  __syncthreads();  // the tile is complete
  for (int r = y; r < kTile; r += kRows) {
    g_out[(column + r) * n + row + x] = s_tile[x][r];
  }
}

__global__ void divergent_reduce_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  s_values[t] = g_in[t];
  __syncthreads();
  for (int stride = 1; stride < kBlock; stride *= 2) {
    if (t % (2 * stride) == 0) {
      s_values[t] += s_values[t + stride];
    }
    __syncthreads();
  }
  if (t == 0) *g_out = s_values[0];
}

__global__ void atomic_add_kernel(int counters, int* g_counters) {
  atomicAdd(&g_counters[static_cast<int>(threadIdx.x) % counters], 1);
}

}  // namespace

Status run_strided_copy(StreamRef stream, unsigned blocks, int stride, const float* g_in, float* g_out) {
  return launch(strided_copy_kernel, {.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream}, stride,
                g_in, g_out);
}

Status run_float4_copy(StreamRef stream, unsigned blocks, const float* g_in, float* g_out) {
  return launch(float4_copy_kernel, {.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream},
                reinterpret_cast<const float4*>(g_in), reinterpret_cast<float4*>(g_out));
}

Status run_transpose(StreamRef stream, Transpose kind, int n, const float* g_in, float* g_out) {
  const auto tiles = static_cast<unsigned>(n / kTile);
  const LaunchConfig config{.grid = dim3(tiles, tiles), .block = dim3(kTile, kRows), .stream = stream};
  switch (kind) {
    case Transpose::naive:
      return launch(naive_transpose_kernel, config, n, g_in, g_out);
    case Transpose::tiled:
      return launch(tiled_transpose_kernel<0>, config, n, g_in, g_out);
    case Transpose::padded:
      return launch(tiled_transpose_kernel<1>, config, n, g_in, g_out);
  }
  return internal_error("an unknown transpose");
}

Status run_divergent_reduce(StreamRef stream, const float* g_in, float* g_out) {
  return launch(divergent_reduce_kernel, {.grid = dim3(1), .block = dim3(kBlock), .stream = stream}, g_in,
                g_out);
}

Status run_atomic_add(StreamRef stream, int counters, int* g_counters) {
  return launch(atomic_add_kernel, {.grid = dim3(1), .block = dim3(kBlock), .stream = stream}, counters,
                g_counters);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
