// layer_norm: each row less its mean, over its deviation.
//
//   v = x, or x + residual, which takes the residual's place
//   y[j] = (v[j] - mean v) / sqrt(variance v + eps) * weight[j] + bias[j];   variance: the mean of (v[i] - mean v)^2
//
// Shapes     x, residual, y: [..., n], a row along the last axis. weight, bias: [n].
// Layout     x, residual, y: any strides, those of residual and y give every element a place of its own. The axes in front of the
//            last lie at two strides at most once neighbours that allow it are one. weight, bias: without gaps. Fast where rows have no
//            gaps between elements and lie to 16 bytes alike.
// Dtypes     all alike: f32 f16 bf16
// Arithmetic in f32; one rounding to y's dtype at the end. x + residual is rounded to its dtype, and that is what is normalised: what
//            the residual holds after the call is what y is of. Rows whose squares leave the range of f32 are served.
// Alignment  that of an element: rows may begin and end anywhere.
// Aliasing   y may be x itself. Nothing else may overlap y or residual.
// Empty      without elements there is nothing to do.
// NaN, +-inf a NaN or an infinity in v makes its row NaN, and no other.
// eps        at least 0. With 0 a row of one value has no deviation, and no result: NaN, or what rounding of its mean leaves.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      tests: families/norm/norm_ref.h.
// Determinism  run-to-run. The order of additions follows from shapes, strides, alignment and the device.
// Source     Ba, Kiros and Hinton, Layer Normalization (2016).
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct LayerNormArgs {
  ConstTensorView x{};
  TensorView residual{};     // absent: none
  ConstTensorView weight{};  // absent: ones
  ConstTensorView bias{};    // absent: zeros
  TensorView y{};
  double eps = 1e-5;

  friend bool operator==(const LayerNormArgs&, const LayerNormArgs&) = default;
};

// Tensor y = layer_norm(context, x, {.weight = weight, .bias = bias}).value();
// layer_norm(context, {.x = x, .residual = stream, .weight = weight, .y = x})
ROOFTILE_CALLS(layer_norm, LayerNormArgs, x)

}  // namespace rooftile
