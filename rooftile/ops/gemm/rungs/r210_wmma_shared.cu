// Tiles that four warps share.
//
// Idea       a block brings 64 x 32 of a and 32 x 64 of b into shared memory; each of its four warps has 32 x 32 sums, four fragments.
// Change     an element is brought n / 64 times in place of n / 16, and multiplied with two fragments for each time that it leaves shared
//            memory.
// Limits     f16, bf16; any strides.
// Bottleneck copies element by element, for which the tensor cores wait.
// Source     CUDA C++ Programming Guide, warp matrix functions.
#include <mma.h>

#include "rooftile/ops/gemm/rungs/rounded_output.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

using namespace nvcuda;

constexpr int kSide = 16;      // of a fragment
constexpr int kTile = 64;      // of out, each way
constexpr int kDepth = 32;     // along k
constexpr int kThreads = 128;  // each warp has a quarter of the tile
// Eight rows of a fragment are in banks of their own.
constexpr int kPitchA = kDepth + 8;
constexpr int kPitchB = kTile + 8;
constexpr int kPitchSums = kTile + 4;

// s_tile[i][j] of rows x columns elements; lanes stand along what lies side by side.
template <int kRows, int kColumns, int kPitch, class T>
__device__ __forceinline__ void copy_tile(T* s_tile, const T* g_from, std::int64_t row_stride,
                                          std::int64_t column_stride, std::int64_t rows,
                                          std::int64_t columns) {
  const bool by_columns = row_stride == 1;
#pragma unroll 4
  for (int e = static_cast<int>(threadIdx.x); e < kRows * kColumns; e += kThreads) {
    const int i = by_columns ? e % kRows : e / kColumns;
    const int j = by_columns ? e / kRows : e % kColumns;
    s_tile[i * kPitch + j] = i < rows && j < columns ? g_from[i * row_stride + j * column_stride] : T(0.0f);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    wmma_shared_kernel(const __grid_constant__ Problem p, unsigned tile_rows, RoundedWay way) {
  __shared__ __align__(32) T s_a[kTile * kPitchA];
  __shared__ __align__(32) T s_b[kDepth * kPitchB];
  __shared__ __align__(32) float s_sums[kTile * kPitchSums];
  const std::int64_t batch = product_of_block();
  if (batch >= p.batches) return;
  const std::int64_t row = blockIdx.x % tile_rows * std::int64_t{kTile};
  const std::int64_t column = blockIdx.x / tile_rows * std::int64_t{kTile};
  const T* g_a = static_cast<const T*>(p.a_data) + batch * p.a.batch + row * p.a.row;
  const T* g_b = static_cast<const T*>(p.b_data) + batch * p.b.batch + column * p.b.column;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int warp_row = warp / 2 * 2 * kSide;
  const int warp_column = warp % 2 * 2 * kSide;
  wmma::fragment<wmma::accumulator, kSide, kSide, kSide, float> sums[2][2];
#pragma unroll
  for (auto& line : sums)
#pragma unroll
    for (auto& sum : line) wmma::fill_fragment(sum, 0.0f);
  for (std::int64_t line = 0; line < p.k; line += kDepth) {
    copy_tile<kTile, kDepth, kPitchA>(s_a, g_a + line * p.a.column, p.a.row, p.a.column, p.m - row,
                                      p.k - line);
    copy_tile<kDepth, kTile, kPitchB>(s_b, g_b + line * p.b.row, p.b.row, p.b.column, p.k - line,
                                      p.n - column);
    __syncthreads();  // the tiles are there
#pragma unroll
    for (int l = 0; l < kDepth; l += kSide) {
      wmma::fragment<wmma::matrix_a, kSide, kSide, kSide, T, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, kSide, kSide, kSide, T, wmma::row_major> b[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a[i], s_a + (warp_row + i * kSide) * kPitchA + l, kPitchA);
        wmma::load_matrix_sync(b[i], s_b + l * kPitchB + warp_column + i * kSide, kPitchB);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sums[i][j], a[i], b[j], sums[i][j]);
    }
    __syncthreads();  // they have been read
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(s_sums + (warp_row + i * kSide) * kPitchSums + warp_column + j * kSide,
                              sums[i][j], kPitchSums, wmma::mem_row_major);
  __syncthreads();  // the sums are there
  give_tile<kTile, kTile, kPitchSums, kThreads, T>(s_sums, p, way, batch, row, column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  return dispatch(HalfTypes{}, call.args.a.dtype, [&]<class T>() -> Status {
    return launch_tiles<kTile, kTile>(wmma_shared_kernel<T>, kThreads, call.stream, problem,
                                      rounded_way(call.args, problem));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
