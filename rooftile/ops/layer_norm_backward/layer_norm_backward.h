// layer_norm_backward: what comes back through layer_norm.
//
//   xhat = (x - mean x) / deviation, deviation = sqrt(variance x + eps), g = dy * weight
//   dx[j] = (g[j] - mean g - xhat[j] * mean (g xhat)) / deviation + dsum[j]
//   dweight[j] = sum over rows of dy[j] xhat[j];   dbias[j] = sum over rows of dy[j]
//
// x          what layer_norm normalised: with a residual what that holds since. Mean and deviation are taken from it once more: a row is read
//            anyway, and forward need keep nothing.
// dsum       the gradient that comes back along the residual, past the norm: added to dx, which is that of x and of the residual alike.
// Shapes     x, dy, dsum, dx: [..., n], a row along the last axis. weight, dweight and dbias: [n].
// Layout     x, dy, dsum, dx: any strides, those of dx give every element a place of its own. The axes in front of the last lie at two
//            strides at most once neighbours that allow it are one. weight, dweight and dbias: without gaps. Fast where rows begin at
//            multiples of 16 bytes and have no gaps between elements.
// Dtypes     all alike: f32 f16 bf16
// Arithmetic in f32; one rounding of each result to its dtype.
// Alignment  that of an element.
// Aliasing   dx may be dy itself. Outputs must not overlap anything else.
// Outputs    dweight and dbias may be absent: nobody asks for them.
// Empty      without rows dweight and dbias are zeros; without columns there is nothing to do.
// NaN, +-inf a NaN in x or dy, or an infinity in x, makes its row of dx NaN; an infinity in dy leaves no element of its row finite. And
//            columns, as far as they have one.
// Range      the sum over a row of dy * weight * (x - mean x) is taken in f32 before it is divided: where it is beyond 3e38,
//            dx of that row is not finite.
// eps        at least 0, the one of forward.
// Size       64-bit index arithmetic; up to 65535 * 16384 rows, some 2^30.
// Error      tests: families/norm/norm_backward_ref.h.
// Determinism  run-to-run, without atomics. The order of additions follows from shapes, strides, alignment and the device.
// Source     Ba, Kiros and Hinton, Layer Normalization (2016).
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct LayerNormBackwardArgs {
  ConstTensorView x{};
  ConstTensorView dy{};
  ConstTensorView weight{};  // absent: ones
  ConstTensorView dsum{};    // absent: none
  TensorView dx{};
  TensorView dweight{};  // absent: nobody asks
  TensorView dbias{};    // the same
  double eps = 1e-5;

  friend bool operator==(const LayerNormBackwardArgs&, const LayerNormBackwardArgs&) = default;
};

// auto [dx, dweight, dbias] = layer_norm_backward(context, x, dy, {.weight = weight}).value();
// layer_norm_backward(context, {.x = x, .dy = dy, .dx = dx})
ROOFTILE_CALLS_OF_3(layer_norm_backward, LayerNormBackwardArgs, x, dy)

}  // namespace rooftile
