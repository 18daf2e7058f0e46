// access_loop: the i-th element takes i % 32 steps: what loops of different length cost a warp.
//
// Shapes     x: any shape, row-major; y: the same shape. Element i, counted in order, is x[i] after i % 32
// times
//            v = (v + 1) / (2 + |v|).
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     GPU MODE, lecture 4, loop bounds.
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessLoopArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_loop_operator();

}  // namespace rooftile
