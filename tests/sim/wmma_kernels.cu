#include "rooftile/device/target.h"

#include <mma.h>

#include "rooftile/device/launch.h"
#include "tests/sim/wmma_kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

using namespace nvcuda;

constexpr unsigned kMatrixBytes = 4096;

__device__ void copy_bytes(unsigned char* to, const unsigned char* from, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes; i += 32) to[i] = from[i];
}

template <int m, int n, int k, class T, class Element, class C, class D, class LayoutA, class LayoutB>
__global__ void product_kernel(WmmaProduct product, const unsigned char* g_a, const unsigned char* g_b,
                               const unsigned char* g_c, unsigned char* g_d) {
  ROOFTILE_DYN_SHARED(unsigned char, s_matrices);
  unsigned char* d = g_d;
  const unsigned char* a = g_a;
  const unsigned char* b = g_b;
  const unsigned char* c = g_c;
  if (product.through_shared) {
    a = s_matrices;
    b = s_matrices + kMatrixBytes;
    c = s_matrices + 2 * kMatrixBytes;
    d = s_matrices + 3 * kMatrixBytes;
    copy_bytes(s_matrices, g_a, product.a_bytes);
    copy_bytes(s_matrices + kMatrixBytes, g_b, product.b_bytes);
    copy_bytes(s_matrices + 2 * kMatrixBytes, g_c, product.c_bytes);
    copy_bytes(d, g_d, product.d_bytes);
    __syncwarp();
  }
  const wmma::layout_t layout = product.cd_row_major ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::fragment<wmma::matrix_a, m, n, k, T, LayoutA> a_part;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LayoutB> b_part;
  wmma::fragment<wmma::accumulator, m, n, k, C> c_part;
  wmma::fragment<wmma::accumulator, m, n, k, D> d_part;
  wmma::load_matrix_sync(a_part, reinterpret_cast<const Element*>(a), product.lda);
  wmma::load_matrix_sync(b_part, reinterpret_cast<const Element*>(b), product.ldb);
  wmma::load_matrix_sync(c_part, reinterpret_cast<const C*>(c), product.ldc, layout);
  wmma::fill_fragment(d_part, static_cast<D>(-7));
  if constexpr (std::is_same_v<C, int>) {
    if (product.saturate) {
      wmma::mma_sync(d_part, a_part, b_part, c_part, true);
    } else {
      wmma::mma_sync(d_part, a_part, b_part, c_part);
    }
  } else if constexpr (std::is_same_v<C, D>) {
    if (product.in_place) {
      wmma::mma_sync(c_part, a_part, b_part, c_part);
      d_part = c_part;
    } else {
      wmma::mma_sync(d_part, a_part, b_part, c_part);
    }
  } else {
    wmma::mma_sync(d_part, a_part, b_part, c_part);
  }
  if (!product.saturate) {
    for (int i = 0; i < d_part.num_elements; ++i) {
      if constexpr (std::is_same_v<D, int>) {
        d_part.x[i] = static_cast<int>(2u * static_cast<unsigned>(d_part.x[i]) + 1u);  // wraps
      } else {
        d_part.x[i] = static_cast<D>(2) * d_part.x[i] + static_cast<D>(1);
      }
    }
  }
  wmma::store_matrix_sync(reinterpret_cast<D*>(d), d_part, product.ldd, layout);
  if (product.through_shared) {
    __syncwarp();
    copy_bytes(g_d, d, product.d_bytes);
  }
}

struct Bytes {
  const unsigned char* a;
  const unsigned char* b;
  const unsigned char* c;
  unsigned char* d;
};

template <int m, int n, int k, class T, class Element, class C, class D>
Status launch_product(StreamRef stream, const WmmaProduct& product, const Bytes& g) {
  const LaunchConfig config{
      .block = dim3(32), .shared_bytes = 4 * std::size_t{kMatrixBytes}, .stream = stream};
  const auto start = [&](auto kernel) { return launch(kernel, config, product, g.a, g.b, g.c, g.d); };
  using Row = wmma::row_major;
  using Column = wmma::col_major;
  if (product.a_row_major) {
    return product.b_row_major ? start(product_kernel<m, n, k, T, Element, C, D, Row, Row>)
                               : start(product_kernel<m, n, k, T, Element, C, D, Row, Column>);
  }
  return product.b_row_major ? start(product_kernel<m, n, k, T, Element, C, D, Column, Row>)
                             : start(product_kernel<m, n, k, T, Element, C, D, Column, Column>);
}

template <int m, int n, int k>
Status launch_shape(StreamRef stream, const WmmaProduct& product, const Bytes& g) {
  const bool c_half = product.c == WmmaSum::float16;
  const bool d_half = product.d == WmmaSum::float16;
  switch (product.type) {
    case WmmaType::float16:
      if (c_half) {
        return d_half ? launch_product<m, n, k, __half, __half, __half, __half>(stream, product, g)
                      : launch_product<m, n, k, __half, __half, __half, float>(stream, product, g);
      }
      return d_half ? launch_product<m, n, k, __half, __half, float, __half>(stream, product, g)
                    : launch_product<m, n, k, __half, __half, float, float>(stream, product, g);
    case WmmaType::bfloat16:
      return launch_product<m, n, k, __nv_bfloat16, __nv_bfloat16, float, float>(stream, product, g);
    case WmmaType::int8:
      return launch_product<m, n, k, signed char, signed char, int, int>(stream, product, g);
    case WmmaType::uint8:
      return launch_product<m, n, k, unsigned char, unsigned char, int, int>(stream, product, g);
    case WmmaType::tf32:
      break;
  }
  return internal_error("tf32 has a shape of its own");
}

template <class Fragment, class Element>
__global__ void elements_kernel(bool row_major, bool through_shared, unsigned ldm,
                                const Element* __restrict__ g_matrix, Element* __restrict__ g_elements,
                                int* __restrict__ g_count) {
  ROOFTILE_DYN_SHARED(unsigned char, s_matrix);
  Fragment part;
  const Element* matrix = g_matrix;
  if (through_shared) {
    copy_bytes(s_matrix, reinterpret_cast<const unsigned char*>(g_matrix), kMatrixBytes);
    __syncwarp();
    matrix = reinterpret_cast<const Element*>(s_matrix);
  }
  if constexpr (requires { wmma::load_matrix_sync(part, matrix, ldm, wmma::mem_row_major); }) {
    wmma::load_matrix_sync(part, matrix, ldm, row_major ? wmma::mem_row_major : wmma::mem_col_major);
  } else {
    wmma::load_matrix_sync(part, matrix, ldm);
  }
  for (int i = 0; i < part.num_elements; ++i) {
    g_elements[static_cast<int>(threadIdx.x) * part.num_elements + i] = part.x[i];
  }
  *g_count = part.num_elements;
}

struct Elements {
  bool row_major, through_shared;
  unsigned ldm;
  const void* g_matrix;
  void* g_elements;
  int* g_count;
};

template <class Element, class Fragment>
Status launch_elements(StreamRef stream, const Elements& of) {
  return launch(elements_kernel<Fragment, Element>,
                {.block = dim3(32), .shared_bytes = kMatrixBytes, .stream = stream}, of.row_major,
                of.through_shared, of.ldm, static_cast<const Element*>(of.g_matrix),
                static_cast<Element*>(of.g_elements), of.g_count);
}
template <class Use, int m, int n, int k, class T, class Element>
Status launch_operand(StreamRef stream, const Elements& of) {
  using Row = wmma::fragment<Use, m, n, k, T, wmma::row_major>;
  using Column = wmma::fragment<Use, m, n, k, T, wmma::col_major>;
  return of.row_major ? launch_elements<Element, Row>(stream, of)
                      : launch_elements<Element, Column>(stream, of);
}
template <class Use, int m, int n, int k>
Status launch_operands(StreamRef stream, WmmaType type, const Elements& of) {
  switch (type) {
    case WmmaType::float16:
      return launch_operand<Use, m, n, k, __half, __half>(stream, of);
    case WmmaType::bfloat16:
      return launch_operand<Use, m, n, k, __nv_bfloat16, __nv_bfloat16>(stream, of);
    case WmmaType::int8:
      return launch_operand<Use, m, n, k, signed char, signed char>(stream, of);
    case WmmaType::uint8:
      return launch_operand<Use, m, n, k, unsigned char, unsigned char>(stream, of);
    case WmmaType::tf32:
      return launch_operand<Use, 16, 16, 8, wmma::precision::tf32, float>(stream, of);
  }
  return internal_error("an unknown type");
}
template <int m, int n, int k>
Status launch_sums(StreamRef stream, WmmaSum type, const Elements& of) {
  switch (type) {
    case WmmaSum::float16:
      return launch_elements<__half, wmma::fragment<wmma::accumulator, m, n, k, __half>>(stream, of);
    case WmmaSum::float32:
      return launch_elements<float, wmma::fragment<wmma::accumulator, m, n, k, float>>(stream, of);
    case WmmaSum::int32:
      return launch_elements<int, wmma::fragment<wmma::accumulator, m, n, k, int>>(stream, of);
  }
  return internal_error("an unknown type");
}

__global__ void to_tf32_kernel(int count, const float* __restrict__ g_in, float* __restrict__ g_out) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < count) g_out[i] = wmma::__float_to_tf32(g_in[i]);
}

// The line numbers that the tests expect are those of the calls in each case.
__global__ void misuse_kernel(WmmaMisuse misuse, __half* g_matrix, float* g_out) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(a, __half(1.0f));
  wmma::fill_fragment(b, __half(1.0f));
  wmma::fill_fragment(sum, 0.0f);
  const unsigned lane = threadIdx.x;
  switch (misuse) {
    case WmmaMisuse::missing_lane:
      if (lane != 7) wmma::mma_sync(sum, a, b, sum);
      __syncthreads();
      break;
    case WmmaMisuse::exited_lane:
      if (lane == 7) return;
      wmma::mma_sync(sum, a, b, sum);
      break;
    case WmmaMisuse::other_collective:
      if (lane < 16) {
        wmma::mma_sync(sum, a, b, sum);
      } else {
        sum.x[0] = __shfl_sync(0xffffffffu, sum.x[0], 0);
      }
      break;
    case WmmaMisuse::other_call:
      if (lane < 16) {
        wmma::load_matrix_sync(a, g_matrix, 16);
      } else {
        wmma::load_matrix_sync(b, g_matrix, 16);
      }
      break;
    case WmmaMisuse::other_place:
      if (lane < 16) {
        wmma::load_matrix_sync(a, g_matrix, 16);
      } else {
        wmma::load_matrix_sync(a, g_matrix, 16);
      }
      break;
    case WmmaMisuse::other_pointer:
      wmma::load_matrix_sync(a, g_matrix + 16 * (lane == 9 ? 1 : 0), 16);
      break;
    case WmmaMisuse::other_stride:
      wmma::load_matrix_sync(a, g_matrix, lane == 9 ? 24 : 16);
      break;
    case WmmaMisuse::misaligned:
      wmma::load_matrix_sync(a, g_matrix + 8, 16);
      break;
    case WmmaMisuse::wrong_stride:
      wmma::load_matrix_sync(a, g_matrix, 20);
      break;
    case WmmaMisuse::wrong_stride_of_floats:
      wmma::store_matrix_sync(g_out, sum, 18, wmma::mem_col_major);
      break;
  }
  g_out[lane] = sum.x[0];
}

Elements elements_of(bool row_major, bool through_shared, unsigned ldm, const void* g_matrix,
                     void* g_elements, int* g_count) {
  return {row_major, through_shared, ldm, g_matrix, g_elements, g_count};
}

}  // namespace

Status run_wmma_product(StreamRef stream, const WmmaProduct& product, const void* g_a, const void* g_b,
                        const void* g_c, void* g_d) {
  const Bytes g{static_cast<const unsigned char*>(g_a), static_cast<const unsigned char*>(g_b),
                static_cast<const unsigned char*>(g_c), static_cast<unsigned char*>(g_d)};
  if (product.type == WmmaType::tf32) {
    return launch_product<16, 16, 8, wmma::precision::tf32, float, float, float>(stream, product, g);
  }
  switch (product.shape.m) {
    case 16:
      return launch_shape<16, 16, 16>(stream, product, g);
    case 32:
      return launch_shape<32, 8, 16>(stream, product, g);
    default:
      return launch_shape<8, 32, 16>(stream, product, g);
  }
}

Status run_wmma_elements(StreamRef stream, WmmaShape shape, WmmaUse use, WmmaType type, bool row_major,
                         bool through_shared, unsigned ldm, const void* g_matrix, void* g_elements,
                         int* g_count) {
  const Elements of = elements_of(row_major, through_shared, ldm, g_matrix, g_elements, g_count);
  const bool is_a = use == WmmaUse::a;
  switch (shape.m) {
    case 16:
      return is_a ? launch_operands<wmma::matrix_a, 16, 16, 16>(stream, type, of)
                  : launch_operands<wmma::matrix_b, 16, 16, 16>(stream, type, of);
    case 32:
      return is_a ? launch_operands<wmma::matrix_a, 32, 8, 16>(stream, type, of)
                  : launch_operands<wmma::matrix_b, 32, 8, 16>(stream, type, of);
    default:
      return is_a ? launch_operands<wmma::matrix_a, 8, 32, 16>(stream, type, of)
                  : launch_operands<wmma::matrix_b, 8, 32, 16>(stream, type, of);
  }
}

Status run_wmma_sums(StreamRef stream, WmmaShape shape, WmmaSum type, bool row_major, bool through_shared,
                     unsigned ldm, const void* g_matrix, void* g_elements, int* g_count) {
  const Elements of = elements_of(row_major, through_shared, ldm, g_matrix, g_elements, g_count);
  switch (shape.m) {
    case 16:
      return launch_sums<16, 16, 16>(stream, type, of);
    case 32:
      return launch_sums<32, 8, 16>(stream, type, of);
    default:
      return launch_sums<8, 32, 16>(stream, type, of);
  }
}

Status run_to_tf32(StreamRef stream, int count, const float* g_in, float* g_out) {
  return launch(to_tf32_kernel, {.block = dim3(32), .stream = stream}, count, g_in, g_out);
}

Status run_wmma_misuse(StreamRef stream, WmmaMisuse misuse, void* g_matrix, float* g_out) {
  return launch(misuse_kernel, {.block = dim3(32), .stream = stream}, misuse, static_cast<__half*>(g_matrix),
                g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
