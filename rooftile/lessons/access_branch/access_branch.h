// access_branch: even and odd elements go different ways: what a branch inside of a warp costs.
//
// Shapes     x: any shape, row-major; y: the same shape. Element i, counted in order, becomes
//            i even: 32 times v = fma(v, 1/2, 1/4);  i odd: 32 times v = (v + 1) / (2 + |v|).
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     GPU MODE, lecture 4, warp divergence; Volta whitepaper, independent thread scheduling.
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessBranchArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_branch_operator();

}  // namespace rooftile
