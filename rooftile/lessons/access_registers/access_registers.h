// access_registers: a thread keeps 64 numbers: in registers, spilled, or in local memory.
//
// Shapes     x: [64, n], row-major; y: the same shape. Of each column its largest number is subtracted:
//            y[k, j] = x[k, j] - max over k of x[k, j], NaN passed over by the maximum.
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     CUDA C++ Programming Guide, launch bounds; local memory.
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessRegistersArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_registers_operator();

}  // namespace rooftile
