// The tensor core at all.
//
// Idea       a warp for each 16 x 16 elements of out: it brings 16 x 16 of a and of b into shared memory, zeros outside, and its tensor core
//            multiplies them.
// Change     4096 multiply-adds by one instruction of a warp, where a thread of naive has one.
// Limits     f16, bf16; any strides.
// Bottleneck the way of each element: it is brought n / 16 (m / 16) times.
// Source     CUDA C++ Programming Guide, warp matrix functions.
#include <mma.h>

#include "rooftile/ops/gemm/rungs/rounded_output.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

using namespace nvcuda;

constexpr int kSide = 16;

template <class T>
__global__ void __launch_bounds__(32)
    wmma_naive_kernel(const __grid_constant__ Problem p, unsigned tile_rows, RoundedWay way) {
  __shared__ __align__(32) T s_a[kSide * kSide];
  __shared__ __align__(32) T s_b[kSide * kSide];
  __shared__ __align__(32) float s_sums[kSide * kSide];
  const std::int64_t batch = product_of_block();
  if (batch >= p.batches) return;
  const std::int64_t row = blockIdx.x % tile_rows * std::int64_t{kSide};
  const std::int64_t column = blockIdx.x / tile_rows * std::int64_t{kSide};
  const T* g_a = static_cast<const T*>(p.a_data) + batch * p.a.batch + row * p.a.row;
  const T* g_b = static_cast<const T*>(p.b_data) + batch * p.b.batch + column * p.b.column;
  wmma::fragment<wmma::accumulator, kSide, kSide, kSide, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (std::int64_t line = 0; line < p.k; line += kSide) {
    for (int e = static_cast<int>(threadIdx.x); e < kSide * kSide; e += 32) {
      const int i = e / kSide;
      const int j = e % kSide;
      const bool has_a = row + i < p.m && line + j < p.k;
      const bool has_b = line + i < p.k && column + j < p.n;
      s_a[e] = has_a ? g_a[i * p.a.row + (line + j) * p.a.column] : T(0.0f);
      s_b[e] = has_b ? g_b[(line + i) * p.b.row + j * p.b.column] : T(0.0f);
    }
    __syncwarp();  // the tiles are there
    wmma::fragment<wmma::matrix_a, kSide, kSide, kSide, T, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, kSide, kSide, kSide, T, wmma::row_major> b;
    wmma::load_matrix_sync(a, s_a, kSide);
    wmma::load_matrix_sync(b, s_b, kSide);
    wmma::mma_sync(sums, a, b, sums);
    __syncwarp();  // they have been read
  }
  wmma::store_matrix_sync(s_sums, sums, kSide, wmma::mem_row_major);
  __syncwarp();  // the sums are there
  give_tile<kSide, kSide, kSide, 32, T>(s_sums, p, way, batch, row, column);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  return dispatch(HalfTypes{}, call.args.a.dtype, [&]<class T>() -> Status {
    return launch_tiles<kSide, kSide>(wmma_naive_kernel<T>, 32, call.stream, problem,
                                      rounded_way(call.args, problem));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
