// What the rungs of dot share: products and their sums, and from arguments to types.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/real_output.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/dot/dot.h"
#include "rooftile/ops/dot/dot_plan.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {

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

struct Add {
  template <class Acc>
  __device__ __forceinline__ Acc operator()(Acc a, Acc b) const {
    return a + b;
  }
};

// Of one thread of each block, which has added its block's part: true in the last, which sees what all have added. The
// ticket is zero before and afterwards.
__device__ __forceinline__ bool is_last_of_grid(std::uint32_t* g_ticket) {
  return fetch_inc_acq_rel(g_ticket, gridDim.x - 1) == gridDim.x - 1;
}

inline RealOutput output_of(const DotArgs& args) { return {args.out.data, args.out.dtype}; }

// Calls body.operator()<In, Acc>().
template <class Body>
Status dispatch_products(const DotArgs& args, Body&& body) {
  using All = DTypes<double, float, __half, __nv_bfloat16>;
  using Checked = DTypes<float, __half>;
  return dispatch(CompiledDTypes<All, Checked>{}, args.a.dtype, [&]<class In>() -> Status {
    if constexpr (std::is_same_v<In, float>) {
      if (dot_plan::compute_dtype(args) == DType::f64) return body.template operator()<In, double>();
    }
    return body.template operator()<In, std::conditional_t<std::is_same_v<In, double>, double, float>>();
  });
}

// Calls body.operator()<T>() for the lessons that accumulate in 16 bits.
template <class Body>
Status dispatch_lesson(const DotArgs& args, Body&& body) {
  return dispatch(CompiledDTypes<DTypes<__half, __nv_bfloat16>, DTypes<__half>>{}, args.a.dtype, body);
}

// The lessons: blocks of kLessonBlock, without shared memory of their own.
template <class Kernel, class... Args>
Status launch_lesson(const Call<DotArgs>& call, Kernel kernel, Args... args) {
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(call.config<dot_plan::Cut>().blocks)),
                 .block = dim3(dot_plan::kLessonBlock),
                 .stream = call.stream},
                args...);
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
