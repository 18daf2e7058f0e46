// Tiles in shared memory.
//
// Idea       a block of 32 x 32 threads brings a tile of a and one of b into shared memory, and reads each element 32 times
//            there.
// Change     one load from global memory for 16 multiply-adds in place of two for each.
// Limits     f32.
// Bottleneck shared memory: two loads for each multiply-add.
// Source     the CUDA C++ Programming Guide, matrix multiplication with shared memory.
#include "rooftile/ops/gemm/rungs/naive_product.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

__global__ void __launch_bounds__(kNaiveThreads)
    shared_tile_kernel(const __grid_constant__ Problem p, unsigned tile_rows) {
  __shared__ float s_a[kNaiveSide][kNaiveSide];
  __shared__ float s_b[kNaiveSide][kNaiveSide];
  const int y = static_cast<int>(threadIdx.x) / kNaiveSide;
  const int x = static_cast<int>(threadIdx.x) % kNaiveSide;
  const std::int64_t row = blockIdx.x % tile_rows * std::int64_t{kNaiveSide} + y;
  const std::int64_t column = blockIdx.x / tile_rows * std::int64_t{kNaiveSide} + x;
  const std::int64_t batch = product_of_block();
  if (batch >= p.batches) return;
  const float* g_a = static_cast<const float*>(p.a_data) + batch * p.a.batch;
  const float* g_b = static_cast<const float*>(p.b_data) + batch * p.b.batch;
  float sum = 0;
  for (std::int64_t first = 0; first < p.k; first += kNaiveSide) {
    const bool has_a = row < p.m && first + x < p.k;
    const bool has_b = column < p.n && first + y < p.k;
    s_a[y][x] = has_a ? g_a[row * p.a.row + (first + x) * p.a.column] : 0.0f;
    s_b[y][x] = has_b ? g_b[(first + y) * p.b.row + column * p.b.column] : 0.0f;
    __syncthreads();  // the tiles are there
#pragma unroll
    for (int i = 0; i < kNaiveSide; ++i) sum = multiply_add(s_a[y][i], s_b[i][x], sum);
    __syncthreads();  // they have been read
  }
  Output<float>(p, batch).give(sum, row, column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) { return launch_elements(call, shared_tile_kernel); }

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
