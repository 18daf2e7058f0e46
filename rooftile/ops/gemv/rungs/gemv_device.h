// What the rungs of gemv share: products and their sums, results, and from arguments to types.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/fast_divide.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemv/gemv_plan.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {

using gemv_plan::Cut;
using gemv_plan::Geometry;

__device__ __forceinline__ float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double multiply_add(double a, double b, double c) { return fma(a, b, c); }

template <class Acc, class In>
__device__ __forceinline__ Acc add_product(Acc sum, In a, In b) {
  return multiply_add(static_cast<Acc>(a), static_cast<Acc>(b), sum);
}

// The products of two vectors, summed up by themselves: one addition then brings them into a longer chain.
template <class Acc, class In, int kCount>
__device__ __forceinline__ Acc product_of(const Vec<In, kCount>& a, const Vec<In, kCount>& b) {
  Acc sum = static_cast<Acc>(a[0]) * static_cast<Acc>(b[0]);
#pragma unroll
  for (int i = 1; i < kCount; ++i) sum = add_product(sum, a[i], b[i]);
  return sum;
}

// A vector as it was loaded: four registers, where its 16-bit elements would take one each. It is taken apart where it is used.
using RawVector = Access<kVecBytes>;

template <class In>
__device__ __forceinline__ Vec<In, kVecElements<In>> as_vector(const RawVector& raw) {
  Vec<In, kVecElements<In>> vec;
  memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
  return vec;
}
template <class T, int kCount>
__device__ __forceinline__ RawVector bits_of(const Vec<T, kCount>& vec) {
  static_assert(sizeof(vec) == kVecBytes);
  RawVector raw;
  memcpy(&raw, static_cast<const void*>(&vec), sizeof(raw));
  return raw;
}

struct Add {
  template <class Acc>
  __device__ __forceinline__ Acc operator()(Acc a, Acc b) const {
    return a + b;
  }
};

// Rounds once, to nearest even.
template <class In, class Acc>
__device__ __forceinline__ In rounded(Acc value) {
  if constexpr (std::is_same_v<In, __half>) {
    return __float2half_rn(value);
  } else if constexpr (std::is_same_v<In, __nv_bfloat16>) {
    return __float2bfloat16_rn(value);
  } else {
    return value;
  }
}

// A call's tensors. An output's number counts through all matrices of the batch.
template <class In, class Acc>
struct Operands {
  const In* g_a;
  const In* g_x;
  const In* g_c;
  In* g_y;
  Geometry shape;
  FastDivisor<std::uint64_t> by_outputs;
  Acc alpha;
  Acc beta;

  [[nodiscard]] __device__ __forceinline__ std::int64_t outputs() const {
    return shape.batches * shape.outputs();
  }
  struct Place {
    std::int64_t batch;
    std::int64_t index;  // within the matrix
  };
  [[nodiscard]] __device__ __forceinline__ Place place_of(std::int64_t output) const {
    const auto parts = by_outputs.divide_with_remainder(static_cast<std::uint64_t>(output));
    return {static_cast<std::int64_t>(parts.quotient), static_cast<std::int64_t>(parts.remainder)};
  }
  [[nodiscard]] __device__ __forceinline__ const In* matrix(std::int64_t batch) const {
    return g_a + batch * shape.a_batch;
  }
  [[nodiscard]] __device__ __forceinline__ const In* row(const Place& at) const {
    return matrix(at.batch) + at.index * shape.pitch;
  }
  [[nodiscard]] __device__ __forceinline__ const In* vector(std::int64_t batch) const {
    return g_x + batch * shape.x_batch;
  }
  // c is read where beta is not 0 alone.
  [[nodiscard]] __device__ __forceinline__ Acc result(const Place& at, Acc sum) const {
    const Acc product = alpha * sum;
    if (beta == Acc{0}) return product;
    return multiply_add(beta, static_cast<Acc>(g_c[at.batch * shape.c_batch + at.index * shape.c_step]),
                        product);
  }
  __device__ __forceinline__ void store(const Place& at, Acc sum) const {
    g_y[at.batch * shape.y_batch + at.index * shape.y_step] = rounded<In>(result(at, sum));
  }
};

// Without elements to add the sum is 0 whatever alpha is, an infinity, too.
template <class In, class Acc>
Operands<In, Acc> operands_of(const Call<GemvArgs>& call) {
  const GemvArgs& args = call.args;
  const Geometry& shape = call.config<Cut>().shape;
  return {.g_a = static_cast<const In*>(args.a.data),
          .g_x = static_cast<const In*>(args.x.data),
          .g_c = static_cast<const In*>(args.c.data),
          .g_y = static_cast<In*>(args.y.data),
          .shape = shape,
          .by_outputs = FastDivisor<std::uint64_t>(static_cast<std::uint64_t>(shape.outputs())),
          .alpha = shape.reduced() == 0 ? Acc{0} : static_cast<Acc>(args.alpha),
          .beta = static_cast<Acc>(args.beta)};
}

// Calls body.operator()<In, Acc>().
template <class Body>
Status dispatch_floats(const GemvArgs& args, Body&& body) {
  using All = DTypes<double, float, __half, __nv_bfloat16>;
  using Checked = DTypes<float, __half>;
  return dispatch(CompiledDTypes<All, Checked>{}, args.a.dtype, [&]<class In>() -> Status {
    return body.template operator()<In, std::conditional_t<std::is_same_v<In, double>, double, float>>();
  });
}

// As many blocks as the plan says, without shared memory that is not the kernel's own.
template <class Kernel, class... Args>
Status launch_blocks(const Call<GemvArgs>& call, int threads, Kernel kernel, Args... args) {
  constexpr std::int64_t kMostBlocks = 2147483647;
  const std::int64_t blocks = call.config<Cut>().blocks;
  if (blocks > kMostBlocks) return unsupported("more than 2^31 - 1 blocks: call it for a part of the batch");
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(blocks)),
                 .block = dim3(static_cast<unsigned>(threads)),
                 .stream = call.stream},
                args...);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
