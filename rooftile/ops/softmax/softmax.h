// softmax: each row as probabilities, or their logarithms.
//
//   v[j] = x[j] + bias[j], -inf where mask[j] is 0
//   y[j] = exp((v[j] - max v) / temperature) / sum of exp((v[i] - max v) / temperature);   log: its logarithm
//
// Shapes     x: [..., n], a row along the last axis; y, bias, mask: x's shape. A bias for all rows, or a mask for all heads, is a
//            view with strides of 0 (TensorView::expand).
// Layout     any strides, 0 in bias and mask, too; those of y give every element a place of its own. The axes in front of the
//            last lie at two strides at most once neighbours that allow it are one. Fast where rows have no gaps between elements.
// Dtypes     x, bias, y alike: f32 f16 bf16. mask: u8, 0 or not.
// Arithmetic in f32; one rounding to y's dtype at the end. f32 results below 2^-126 may be 0.
// Alignment  that of an element: rows may begin and end anywhere.
// Aliasing   y may be x itself. It must not overlap x otherwise, nor bias or mask.
// Empty      without elements there is nothing to do.
// NaN, +-inf a NaN in v, or +inf, makes its row NaN and no other. A row of -inf alone gives zeros (log: -inf).
// Temperature  0, or from 1e-30 on, as far as differences of a row are finite in f32. 0 is argmax: 1 at the first of the largest elements,
//            else 0 (log: 0 and -inf); +inf is an element as any other then.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      tests: softmax_ref.cpp.
// Determinism  run-to-run. The order of additions follows from shapes, strides, alignment and the device.
// Source     Milakov and Gimelshein, Online normalizer calculation for softmax (2018).
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct SoftmaxArgs {
  ConstTensorView x{};
  ConstTensorView bias{};  // absent: none
  ConstTensorView mask{};  // absent: none
  TensorView y{};
  double temperature = 1;
  bool log = false;

  friend bool operator==(const SoftmaxArgs&, const SoftmaxArgs&) = default;
};

// Tensor y = softmax(context, x).value();
// softmax(context, {.x = x, .y = y, .log = true})
ROOFTILE_CALLS(softmax, SoftmaxArgs, x)

}  // namespace rooftile
