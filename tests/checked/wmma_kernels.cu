// Matrix operations whose requests are known by hand, and those with a planted bug.
#include "rooftile/device/target.h"

#include <mma.h>

#include "rooftile/device/launch.h"
#include "tests/checked/wmma_kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

using namespace nvcuda;

using A = wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major>;
using B = wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major>;
using Sum = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

template <class Fragment, class T>
__global__ void tile_kernel(bool in_shared, unsigned ldm, const T* __restrict__ g_matrix,
                            float* __restrict__ g_out) {
  ROOFTILE_DYN_SHARED(T, s_matrix);
  Fragment part;
  const T* matrix = g_matrix;
  if (in_shared) {
    for (unsigned i = threadIdx.x; i < 16 * ldm; i += 32) s_matrix[i] = T(1.0f);
    __syncwarp();
    matrix = s_matrix;
  }
  wmma::load_matrix_sync(part, matrix, ldm);  // the tile
  g_out[threadIdx.x] = static_cast<float>(part.x[0]);
}

__global__ void sum_kernel(bool in_shared, unsigned ldm, const float* __restrict__ g_matrix,
                           float* __restrict__ g_out) {
  ROOFTILE_DYN_SHARED(float, s_matrix);
  Sum part;
  const float* from = g_matrix;
  float* to = g_out;
  if (in_shared) {
    for (unsigned i = threadIdx.x; i < 16 * ldm; i += 32) s_matrix[i] = 1.0f;
    __syncwarp();
    from = to = s_matrix;
  }
  wmma::load_matrix_sync(part, from, ldm, wmma::mem_row_major);  // the tile
  for (float& x : part.x) x += 1.0f;
  __syncwarp();
  wmma::store_matrix_sync(to, part, ldm, wmma::mem_row_major);  // the sums
}

__global__ void bug_kernel(WmmaBug bug, const __half* __restrict__ g_in, float* __restrict__ g_out) {
  __shared__ __align__(32) __half s_tile[256];
  __shared__ __align__(32) float s_sum[256];
  const unsigned t = threadIdx.x;
  const unsigned warp = t / 32;
  A a;
  B b;
  Sum sum;
  wmma::fill_fragment(sum, 0.0f);
  if (bug != WmmaBug::uninitialised_tile) {
    for (unsigned i = t; i < 256; i += 64) s_tile[i] = g_in[i];
  }
  if (bug == WmmaBug::load_without_barrier) {
    wmma::load_matrix_sync(a, s_tile, 16);  // BUG load_without_barrier
  } else if (bug == WmmaBug::load_without_syncwarp) {
    __syncthreads();
    if (warp == 0) {
      for (unsigned i = t; i < 256; i += 32) s_tile[i] = g_in[i];
      wmma::load_matrix_sync(a, s_tile, 16);  // BUG load_without_syncwarp
    } else {
      wmma::fill_fragment(a, g_in[0]);
    }
  } else if (bug == WmmaBug::uninitialised_tile) {
    wmma::load_matrix_sync(a, s_tile, 16);  // BUG uninitialised_tile
  } else if (bug == WmmaBug::load_behind) {
    wmma::load_matrix_sync(a, g_in + 16, 16);  // BUG load_behind
  } else {
    __syncthreads();  // the tile is complete
    wmma::load_matrix_sync(a, s_tile, 16);
  }
  wmma::load_matrix_sync(b, g_in, 16);
  if (bug == WmmaBug::missing_lane) {
    if (t != 5) wmma::mma_sync(sum, a, b, sum);  // BUG missing_lane
    __syncthreads();
  } else {
    wmma::mma_sync(sum, a, b, sum);
  }
  if (bug == WmmaBug::store_without_barrier) {
    wmma::fill_fragment(sum, static_cast<float>(warp));  // of one value by both there would be no race
    wmma::store_matrix_sync(s_sum, sum, 16, wmma::mem_row_major);  // BUG store_without_barrier
  } else if (bug == WmmaBug::store_behind) {
    wmma::store_matrix_sync(g_out + 256 * warp + 64, sum, 16, wmma::mem_row_major);  // BUG store_behind
  } else {
    if (warp == 0) wmma::store_matrix_sync(s_sum, sum, 16, wmma::mem_row_major);
    __syncthreads();
    wmma::store_matrix_sync(g_out + 256 * warp, sum, 16, wmma::mem_row_major);
    if (s_sum[t] == -1.0f) g_out[t] = 0.0f;
  }
}

template <class Fragment, class T>
Status launch_tile(StreamRef stream, bool in_shared, unsigned ldm, const void* g_matrix, float* g_out) {
  return launch(tile_kernel<Fragment, T>,
                {.block = dim3(32), .shared_bytes = 16 * sizeof(T) * ldm, .stream = stream}, in_shared, ldm,
                static_cast<const T*>(g_matrix), g_out);
}

}  // namespace

Status run_wmma_tile(StreamRef stream, WmmaTile tile, bool in_shared, unsigned ldm, const void* g_matrix,
                     float* g_out) {
  using wmma::col_major;
  using wmma::fragment;
  using wmma::matrix_a;
  using wmma::row_major;
  switch (tile) {
    case WmmaTile::half_a:
      return launch_tile<A, __half>(stream, in_shared, ldm, g_matrix, g_out);
    case WmmaTile::half_a_transposed:
      return launch_tile<fragment<matrix_a, 16, 16, 16, __half, col_major>, __half>(stream, in_shared, ldm,
                                                                                    g_matrix, g_out);
    case WmmaTile::half_b:
      return launch_tile<B, __half>(stream, in_shared, ldm, g_matrix, g_out);
    case WmmaTile::bfloat16_a:
      return launch_tile<fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major>, __nv_bfloat16>(
          stream, in_shared, ldm, g_matrix, g_out);
    case WmmaTile::byte_a:
      return launch_tile<fragment<matrix_a, 16, 16, 16, unsigned char, row_major>, unsigned char>(
          stream, in_shared, ldm, g_matrix, g_out);
    case WmmaTile::float_sum:
      return launch(sum_kernel,
                    {.block = dim3(32), .shared_bytes = 16 * sizeof(float) * ldm, .stream = stream},
                    in_shared, ldm, static_cast<const float*>(g_matrix), g_out);
  }
  return internal_error("an unknown tile");
}

Status run_wmma_bug(StreamRef stream, WmmaBug bug, const unsigned short* g_in, float* g_out) {
  return launch(bug_kernel, {.block = dim3(64), .stream = stream}, bug, reinterpret_cast<const __half*>(g_in),
                g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
