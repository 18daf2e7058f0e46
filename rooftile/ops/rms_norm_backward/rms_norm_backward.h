// rms_norm_backward: what comes back through rms_norm.
//
//   xhat = x / deviation, deviation = sqrt(mean of x^2 + eps), g = dy * weight
//   dx[j] = (g[j] - xhat[j] * mean (g xhat)) / deviation + dsum[j]
//   dweight[j] = sum over rows of dy[j] xhat[j]
//
// x          what rms_norm normalised: with a residual what that holds since. Mean and deviation are taken from it once more: a row is read
//            anyway, and forward need keep nothing.
// dsum       the gradient that comes back along the residual, past the norm: added to dx, which is that of x and of the residual alike.
// Shapes     x, dy, dsum, dx: [..., n], a row along the last axis. weight, dweight: [n].
// Layout     x, dy, dsum, dx: any strides, those of dx give every element a place of its own. The axes in front of the last lie at two
//            strides at most once neighbours that allow it are one. weight, dweight: without gaps. Fast where rows begin at
//            multiples of 16 bytes and have no gaps between elements.
// Dtypes     all alike: f32 f16 bf16
// Arithmetic in f32; one rounding of each result to its dtype.
// Alignment  that of an element.
// Aliasing   dx may be dy itself. Outputs must not overlap anything else.
// Outputs    dweight may be absent: nobody asks for it.
// Empty      without rows dweight is zeros; without columns there is nothing to do.
// NaN, +-inf a NaN in x or dy, or an infinity in x, makes its row of dx NaN; an infinity in dy leaves no element of its row finite. And
//            columns, as far as they have one.
// Range      the sum over a row of dy * weight * x is taken in f32 before it is divided: where it is beyond 3e38, dx of that row is not
//            finite.
// eps        at least 0, the one of forward.
// Size       64-bit index arithmetic; up to 65535 * 16384 rows, some 2^30.
// Error      tests: families/norm/norm_backward_ref.h.
// Determinism  run-to-run, without atomics. The order of additions follows from shapes, strides, alignment and the device.
// Source     Zhang and Sennrich, Root Mean Square Layer Normalization (2019).
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct RmsNormBackwardArgs {
  ConstTensorView x{};
  ConstTensorView dy{};
  ConstTensorView weight{};  // absent: ones
  ConstTensorView dsum{};    // absent: none
  TensorView dx{};
  TensorView dweight{};  // absent: nobody asks
  double eps = 1e-6;

  friend bool operator==(const RmsNormBackwardArgs&, const RmsNormBackwardArgs&) = default;
};

// auto [dx, dweight] = rms_norm_backward(context, x, dy, {.weight = weight}).value();
// rms_norm_backward(context, {.x = x, .dy = dy, .dx = dx})
ROOFTILE_CALLS_OF_2(rms_norm_backward, RmsNormBackwardArgs, x, dy)

}  // namespace rooftile
