// What the CPU rungs share: from arguments to types, and what becomes of a sum.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/element.h"
#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_math.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile::cpu::gemm_rungs {

using gemm_plan::Problem;

// Elements of 16 bits are summed up in f32.
template <class T>
using Sum = std::conditional_t<sizeof(T) == 2, float, T>;
inline double number(double x) { return x; }
inline float number(float x) { return x; }
inline float number(Float16 x) { return to_float(x); }
inline float number(BFloat16 x) { return to_float(x); }

// Calls body.operator()<T>(problem) where there is something to be computed.
template <class Body>
Status with_problem(const GemmArgs& args, Body&& body) {
  return dispatch(DTypes<float, double, Float16, BFloat16>{}, args.a.dtype, [&]<class T>() -> Status {
    const Problem problem = gemm_plan::problem_of(args);
    if (!problem.is_empty()) body.template operator()<T>(problem);
    return {};
  });
}

// Out: the element type of c, bias and out.
template <class Out>
void give(const Problem& p, std::int64_t batch, std::int64_t i, std::int64_t j, Sum<Out> sum) {
  Sum<Out> x = static_cast<Sum<Out>>(p.alpha) * sum;
  if (p.c_data != nullptr)
    x += static_cast<Sum<Out>>(p.beta) *
         number(static_cast<const Out*>(p.c_data)[batch * p.c.batch + i * p.c.row + j * p.c.column]);
  if (p.bias_data != nullptr)
    x += number(static_cast<const Out*>(p.bias_data)[i * p.bias.row + j * p.bias.column]);
  x = gemm_math::activated(p.activation, x);
  Out& out = static_cast<Out*>(p.out_data)[batch * p.out.batch + i * p.out.row + j * p.out.column];
  if constexpr (sizeof(Out) == 2)
    store_from_double(&out, dtype_of<Out>, x);
  else
    out = x;
}
// Of operands of T.
template <class T>
void give(const Problem& p, DType out, std::int64_t batch, std::int64_t i, std::int64_t j, Sum<T> sum) {
  if (sizeof(T) == 2 && out == DType::f32)
    give<float>(p, batch, i, j, static_cast<float>(sum));
  else
    give<T>(p, batch, i, j, sum);
}

}  // namespace rooftile::cpu::gemm_rungs
