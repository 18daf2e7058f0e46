// access_count: all threads add to one number: the race, and what its cures cost.
//
// Shapes     x: any shape, row-major; y: one element: the sum of x, in wrapping arithmetic of 32 bits.
// Dtypes     i32 -> i32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// Size       64-bit index arithmetic.
// Source     256 threads that add 3 to one number: 3 in place of 768.
// Empty      the sum is 0.
// Determinism  run-to-run.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessCountArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_count_operator();

}  // namespace rooftile
