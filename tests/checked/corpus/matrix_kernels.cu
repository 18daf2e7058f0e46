// Products of two matrices of 64 times 64, and their transposition. The products of small integers are exact.
#include "rooftile/device/target.h"

#include <cuda_fp16.h>
#include <mma.h>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

namespace wmma = nvcuda::wmma;

constexpr unsigned kSide = 64;
constexpr unsigned kTile = 16;
constexpr unsigned kTiles = kSide / kTile;
static_assert(kSide * kSide == kElements);

// Both matrices come from the one input.
__host__ __device__ inline float of_a(float value) { return static_cast<float>(static_cast<int>(value) % 8); }
__host__ __device__ inline float of_b(float value) {
  return static_cast<float>(static_cast<int>(value) % 5 - 2);
}

template <bool kSynchronises>
__global__ void product_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  __shared__ float s_a[kTile][kTile];
  __shared__ float s_b[kTile][kTile];
  const unsigned x = threadIdx.x;
  const unsigned y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + x;
  float sum = 0.0f;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    s_a[y][x] = of_a(g_in[row * kSide + tile * kTile + x]);  // BUG product_without_second_barrier
    s_b[y][x] = of_b(g_in[(tile * kTile + y) * kSide + column]);
    __syncthreads();
    for (unsigned k = 0; k < kTile; ++k) sum += s_a[y][k] * s_b[k][x];
    if constexpr (kSynchronises) __syncthreads();
  }
  g_out[row * kSide + column] = sum;
}

// Tiles in half precision, a pair of columns per thread, sums in single.
__global__ void half_product_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  __shared__ __half s_a[kTile][kTile + 2];
  __shared__ __half2 s_b[kTile][kTile / 2];
  const unsigned x = threadIdx.x;  // of 8
  const unsigned y = threadIdx.y;
  const unsigned row = blockIdx.y * kTile + y;
  const unsigned column = blockIdx.x * kTile + 2 * x;
  float2 sum = make_float2(0.0f, 0.0f);
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    const float* g_a = g_in + row * kSide + tile * kTile + 2 * x;
    const float* g_b = g_in + (tile * kTile + y) * kSide + column;
    s_a[y][2 * x] = __float2half(of_a(g_a[0]));
    s_a[y][2 * x + 1] = __float2half(of_a(g_a[1]));
    s_b[y][x] = __floats2half2_rn(of_b(g_b[0]), of_b(g_b[1]));
    __syncthreads();
    for (unsigned k = 0; k < kTile; ++k) {
      const float2 product = __half22float2(__hmul2(__half2half2(s_a[y][k]), s_b[k][x]));
      sum.x += product.x;
      sum.y += product.y;
    }
    __syncthreads();
  }
  *reinterpret_cast<float2*>(g_out + row * kSide + column) = sum;
}

// A warp per tile of the product. What lies behind a row of shared memory keeps its banks apart.
template <bool kSynchronises>
__global__ void wmma_product_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  constexpr unsigned kStride = kTile + 8;
  __shared__ __align__(32) __half s_a[kTile * kStride];
  __shared__ __align__(32) __half s_b[kTile * kStride];
  const unsigned row = blockIdx.y * kTile;
  const unsigned column = blockIdx.x * kTile;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    for (unsigned i = threadIdx.x; i < kTile * kTile; i += 32) {
      const unsigned y = i / kTile;
      const unsigned x = i % kTile;
      s_a[y * kStride + x] = __float2half(of_a(g_in[(row + y) * kSide + tile * kTile + x]));
      s_b[y * kStride + x] = __float2half(of_b(g_in[(tile * kTile + y) * kSide + column + x]));
    }
    if constexpr (kSynchronises) __syncwarp();
    wmma::load_matrix_sync(a, s_a, kStride);  // BUG wmma_product_without_syncwarp
    wmma::load_matrix_sync(b, s_b, kStride);
    wmma::mma_sync(sum, a, b, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(g_out + row * kSide + column, sum, kSide, wmma::mem_row_major);
}

__global__ void transpose_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  constexpr unsigned kWide = 32;
  constexpr unsigned kThreadRows = 8;
  __shared__ float s_tile[kWide][kWide + 1];
  const unsigned x = blockIdx.x * kWide + threadIdx.x;
  const unsigned y = blockIdx.y * kWide + threadIdx.y;
  for (unsigned j = 0; j < kWide; j += kThreadRows) {
    s_tile[threadIdx.y + j][threadIdx.x] = g_in[(y + j) * kSide + x];
  }
  __syncthreads();
  const unsigned out_x = blockIdx.y * kWide + threadIdx.x;
  const unsigned out_y = blockIdx.x * kWide + threadIdx.y;
  for (unsigned j = 0; j < kWide; j += kThreadRows) {
    g_out[(out_y + j) * kSide + out_x] = s_tile[threadIdx.x][threadIdx.y + j];
  }
}

void product(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) {
    out[i] = 0.0f;
    for (unsigned k = 0; k < kSide; ++k)
      out[i] += of_a(in[i - i % kSide + k]) * of_b(in[k * kSide + i % kSide]);
  }
}

void transposed(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = in[i % kSide * kSide + i / kSide];
}

template <void (*kKernel)(const float*, float*), unsigned kTileSide, unsigned kBlockX, unsigned kBlockY>
Status run_tiles(StreamRef stream, const float* g_in, float* g_out) {
  const LaunchConfig config{
      .grid = dim3(kSide / kTileSide, kSide / kTileSide), .block = dim3(kBlockX, kBlockY), .stream = stream};
  return launch(kKernel, config, g_in, g_out);
}

const Kernel kKernels[] = {
    {"product", run_tiles<product_kernel<true>, kTile, kTile, kTile>, product},
    {"product_without_second_barrier", run_tiles<product_kernel<false>, kTile, kTile, kTile>, nullptr,
     "race"},
    {"half_product", run_tiles<half_product_kernel, kTile, kTile / 2, kTile>, product},
    {"wmma_product", run_tiles<wmma_product_kernel<true>, kTile, 32, 1>, product},
    {"wmma_product_without_syncwarp", run_tiles<wmma_product_kernel<false>, kTile, 32, 1>, nullptr, "race"},
    {"transpose", run_tiles<transpose_kernel, 32, 32, 8>, transposed, nullptr, 2 * kElements / 8},
};

}  // namespace

std::span<const Kernel> matrix_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
