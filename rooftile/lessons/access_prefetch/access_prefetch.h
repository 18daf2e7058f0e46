// access_prefetch: a few threads walk over many elements: fetch the next ones before they are needed.
//
// Shapes     x: any shape, row-major; y: the same shape. y[i] is x[i] after 8 times v = fma(v, 1/2, 1/4).
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (NVIDIA, 2022).
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessPrefetchArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_prefetch_operator();

}  // namespace rooftile
