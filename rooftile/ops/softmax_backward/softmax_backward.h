// softmax_backward: what comes back through softmax, or through its logarithm.
//
//   dx[j] = (dy[j] - sum over i of dy[i] y[i]) * y[j] / temperature
//   log:  dx[j] = (dy[j] - exp(y[j]) * sum over i of dy[i]) / temperature
//
// y          what softmax gave (with .log its logarithms): x, bias and mask are not asked for once more. dx is the gradient of x, and of
//            a bias that is not expanded (of one for all rows it is their sum); where the mask was 0 it is 0.
// Shapes     y, dy, dx: [..., n], a row along the last axis.
// Layout     any strides, those of dx give every element a place of its own. The axes in front of the last lie at two strides at most
//            once neighbours that allow it are one. Fast where rows have no gaps between elements and lie to 16 bytes alike.
// Dtypes     all alike: f32 f16 bf16
// Arithmetic in f32; one rounding to dx's dtype at the end.
// Alignment  that of an element: rows may begin and end anywhere.
// Aliasing   dx may be dy itself. It must not overlap dy otherwise, nor y.
// Empty      without elements there is nothing to do.
// NaN, +-inf a NaN in dy makes its row NaN, and no other; so does one in y, but of logarithms: there it is that element's. log: where y is
//            -inf and the row's sum of dy is finite, dx is dy / temperature, which is 0 where nothing asks for that element.
// Temperature  above 0, that of forward: argmax, which 0 stands for, has no gradient.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      tests: softmax_backward_cases.cpp.
// Determinism  run-to-run. The order of additions follows from shapes, strides, alignment and the device.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct SoftmaxBackwardArgs {
  ConstTensorView y{};
  ConstTensorView dy{};
  TensorView dx{};
  double temperature = 1;
  bool log = false;

  friend bool operator==(const SoftmaxBackwardArgs&, const SoftmaxBackwardArgs&) = default;
};

// Tensor dx = softmax_backward(context, y, dy).value();
// softmax_backward(context, {.y = y, .dy = dy, .dx = dy})
ROOFTILE_CALLS(softmax_backward, SoftmaxBackwardArgs, y, dy)

}  // namespace rooftile
