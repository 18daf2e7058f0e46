// What the CPU rungs share: from arguments to types, and what becomes of a sum.
#pragma once

#include <cstdint>

#include "rooftile/core/rung.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_math.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile::cpu::gemm_rungs {

using gemm_plan::Problem;

// Calls body.operator()<T>(problem) where there is something to be computed.
template <class Body>
Status with_problem(const GemmArgs& args, Body&& body) {
  return dispatch(DTypes<float, double>{}, args.a.dtype, [&]<class T>() -> Status {
    const Problem problem = gemm_plan::problem_of(args);
    if (!problem.is_empty()) body.template operator()<T>(problem);
    return {};
  });
}

template <class T>
void give(const Problem& p, std::int64_t batch, std::int64_t i, std::int64_t j, T sum) {
  T x = static_cast<T>(p.alpha) * sum;
  if (p.c_data != nullptr)
    x += static_cast<T>(p.beta) *
         static_cast<const T*>(p.c_data)[batch * p.c.batch + i * p.c.row + j * p.c.column];
  if (p.bias_data != nullptr) x += static_cast<const T*>(p.bias_data)[i * p.bias.row + j * p.bias.column];
  static_cast<T*>(p.out_data)[batch * p.out.batch + i * p.out.row + j * p.out.column] =
      gemm_math::activated(p.activation, x);
}

}  // namespace rooftile::cpu::gemm_rungs
