// access_swap: the halves of a warp exchange values: who waits for whom after a branch.
//
// Shapes     x: any shape, row-major; y: the same shape. Of each 32 elements, counted in order, the first 16
// become
//            x[i + 16] + 1 and the others 2 * x[i - 16]; behind its end x is 0.
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     GPU MODE, lecture 4, __syncwarp; Volta whitepaper, independent thread scheduling.
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessSwapArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_swap_operator();

}  // namespace rooftile
