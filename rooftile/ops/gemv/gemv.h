// gemv: a matrix times a vector.
//
//   y = alpha op(A) x + beta c,   op(A) = A, or its transpose
//
// Shapes     a: [m, n] or [b, m, n]. x: [n] (transpose: [m]) and y: [m] (transpose: [n]), with [b, ...] in front where a has it.
//            c: y's shape, may be absent where beta is 0.
// Layout     a: elements side by side along its rows (row-major) or its columns (column-major), any leading dimension from the
//            row's (column's) length on, any stride between the matrices of a batch, 0 too. x, c, y: any strides; those of y give
//            every element a place of its own.
// Dtypes     all tensors alike: f64 f32 f16 bf16.
// Accumulation  in f64 for f64, else in f32; one rounding to y's dtype at the end. alpha and beta are rounded to that type first.
// Alignment  that of an element: rows may begin and end anywhere.
// Aliasing   y may be c itself: that is BLAS's y = alpha op(A) x + beta y. It must not overlap a or x, nor c otherwise.
// Empty      without elements to add (op(A) has no columns) y = beta c; without rows there is nothing to do.
// NaN, +-0   as IEEE 754 has them; but c is not read where beta is 0, nor a and x where alpha is 0: what is in them does not
//            come through.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      at most the rounding of one serial chain of fused multiply-adds, and of the three operations behind it (tests:
//            gemv_ref.cpp).
// Determinism  run-to-run. The order of additions follows from shapes, strides, alignment and the device.
// Source     BLAS level 2: Dongarra, Du Croz, Hammarling and Hanson (1988); Sorensen, High-performance matrix-vector
//            multiplication on the GPU (2011); the last-block finish: the CUDA sample threadFenceReduction.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct GemvArgs {
  ConstTensorView a{};
  ConstTensorView x{};
  ConstTensorView c{};  // absent: none
  TensorView y{};
  double alpha = 1;
  double beta = 0;
  bool transpose = false;

  friend bool operator==(const GemvArgs&, const GemvArgs&) = default;
};

// Tensor y = gemv(context, a, x).value();
// gemv(context, {.a = a, .x = x, .c = y, .y = y, .beta = 1}): adds to y
ROOFTILE_CALLS(gemv, GemvArgs, a, x)

}  // namespace rooftile
