// What the rungs of gemm share: a call as a kernel sees it, and what becomes of a sum.
#pragma once

#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_math.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::Problem;

inline constexpr std::int64_t kMaxGrid = 2147483647;  // blocks along x

// A grid whose y and z are the products of a batch: 65535 along each at most. product_of_block() is a batch's length and more in the last
// blocks along z.
inline Result<dim3> grid_of_products(std::int64_t tiles, std::int64_t batches) {
  constexpr std::int64_t kMost = 65535;
  const std::int64_t deep = ceil_div(batches, kMost);
  if (tiles > kMaxGrid || deep > kMost) return unsupported("too many blocks for one grid");
  return dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(ceil_div(batches, deep)),
              static_cast<unsigned>(deep));
}
__device__ __forceinline__ std::int64_t product_of_block() {
  return std::int64_t{blockIdx.z} * gridDim.y + blockIdx.y;
}

__device__ __forceinline__ float multiply_add(float x, float y, float z) { return fmaf(x, y, z); }
__device__ __forceinline__ double multiply_add(double x, double y, double z) { return fma(x, y, z); }

// What becomes of the sums of one matrix of the batch. kActivates: where it is said some hundred times in a kernel it is too
// long with all activations. factor: of a sum, alpha where nobody has multiplied by it yet.
template <class T, bool kActivates = true>
class Output {
 public:
  __device__ __forceinline__ Output(const Problem& problem, std::int64_t batch)
      : Output(problem, batch, static_cast<T>(problem.alpha)) {}
  __device__ __forceinline__ Output(const Problem& problem, std::int64_t batch, T factor)
      : p_(problem),
        factor_(factor),
        g_out_(static_cast<T*>(problem.out_data) + batch * problem.out.batch),
        g_c_(problem.c_data == nullptr ? nullptr
                                       : static_cast<const T*>(problem.c_data) + batch * problem.c.batch) {}

  __device__ __forceinline__ T result(T sum, std::int64_t i, std::int64_t j) const {
    T x = factor_ * sum;
    if (g_c_ != nullptr) x = multiply_add(static_cast<T>(p_.beta), g_c_[i * p_.c.row + j * p_.c.column], x);
    if (p_.bias_data != nullptr)
      x += static_cast<const T*>(p_.bias_data)[i * p_.bias.row + j * p_.bias.column];
    if constexpr (kActivates) {
      if (p_.activation != GemmActivation::none) return gemm_math::activated(p_.activation, x);
    }
    return x;
  }
  __device__ __forceinline__ void give(T sum, std::int64_t i, std::int64_t j) const {
    if (i < p_.m && j < p_.n) g_out_[i * p_.out.row + j * p_.out.column] = result(sum, i, j);
  }
  // A vector from (i, j) on, at once where `vectors` and it is inside.
  __device__ __forceinline__ void give(const Vec<T, kVecElements<T>>& sums, std::int64_t i, std::int64_t j,
                                       bool vectors) const {
    Vec<T, kVecElements<T>> vec;
    const bool is_inside = i < p_.m && j + kVecElements<T> <= p_.n;
#pragma unroll
    for (int e = 0; e < kVecElements<T>; ++e)
      if (is_inside || (i < p_.m && j + e < p_.n)) vec[e] = result(sums[e], i, j + e);
    if (vectors && is_inside) {
      store_vec<StorePolicy::no_allocate>(g_out_ + i * p_.out.row + j, vec);
      return;
    }
#pragma unroll
    for (int e = 0; e < kVecElements<T>; ++e)
      if (i < p_.m && j + e < p_.n) g_out_[i * p_.out.row + (j + e) * p_.out.column] = vec[e];
  }

 private:
  const Problem& p_;
  T factor_;
  T* g_out_;
  const T* g_c_;
};

// Whether 16 bytes of a row of out may be written at once, wherever they begin at a multiple.
template <class T>
bool has_vectors_of_out(const Problem& p) {
  constexpr std::int64_t kVector = kVecElements<T>;
  return p.out.column == 1 && (p.m == 1 || p.out.row % kVector == 0) && p.out.batch % kVector == 0 &&
         reinterpret_cast<std::uintptr_t>(p.out_data) % kVecBytes == 0;
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
