// rms_norm: each row over the root of the mean of its squares.
//
//   v = x, or x + residual, which takes the residual's place
//   y[j] = v[j] / sqrt(mean of v[i]^2 + eps) * weight[j]
//
// Shapes     x, residual, y: [..., n], a row along the last axis. weight: [n].
// Layout     x, residual, y: any strides, those of residual and y give every element a place of its own. The axes in front of the
//            last lie at two strides at most once neighbours that allow it are one. weight: without gaps. Fast where rows have no gaps
//            between elements and lie to 16 bytes alike.
// Dtypes     all alike: f32 f16 bf16
// Arithmetic in f32; one rounding to y's dtype at the end. x + residual is rounded to its dtype, and that is what is normalised: what
//            the residual holds after the call is what y is of. Rows whose squares leave the range of f32 are served.
// Alignment  that of an element: rows may begin and end anywhere.
// Aliasing   y may be x itself. Nothing else may overlap y or residual.
// Empty      without elements there is nothing to do.
// NaN, +-inf a NaN makes its row NaN, and no other. Beside an infinity finite elements are 0, and it is NaN.
// eps        at least 0. With 0 a row of zeros is NaN.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      tests: families/norm/norm_ref.h.
// Determinism  run-to-run. The order of additions follows from shapes, strides, alignment and the device.
// Source     Zhang and Sennrich, Root Mean Square Layer Normalization (2019).
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct RmsNormArgs {
  ConstTensorView x{};
  TensorView residual{};     // absent: none
  ConstTensorView weight{};  // absent: ones
  TensorView y{};
  double eps = 1e-6;

  friend bool operator==(const RmsNormArgs&, const RmsNormArgs&) = default;
};

// Tensor y = rms_norm(context, x, {.weight = weight}).value();
// rms_norm(context, {.x = x, .residual = stream, .weight = weight, .y = x})
ROOFTILE_CALLS(rms_norm, RmsNormArgs, x)

}  // namespace rooftile
