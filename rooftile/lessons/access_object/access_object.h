// access_object: how a kernel gets an object of a class: by value, by pointer, with virtual functions.
//
// Shapes     x: any shape, row-major; y: the same shape. y[i] = fma(a, x[i], b).
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     CUDA C++ Programming Guide, C++ language support: classes, virtual functions.
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessObjectArgs {
  ConstTensorView x;
  TensorView y;
  float a = 2.5f;
  float b = 0.5f;
};

const OperatorDescriptor& access_object_operator();

}  // namespace rooftile
