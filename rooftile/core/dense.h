// What operators from one dense tensor x to another, y, ask of both.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rooftile/core/dtype.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/status.h"
#include "rooftile/core/view.h"

namespace rooftile {

// Each obeys check_view, has the dtype and is row-major without gaps; both are on one device, and y shares no
// byte with x. Their shapes are the operator's business.
[[nodiscard]] Status check_dense_pair(const ConstTensorView& x, const ConstTensorView& y, DType dtype);
// The same, and y has the shape of x.
[[nodiscard]] Status check_dense_alike(const ConstTensorView& x, const ConstTensorView& y, DType dtype);

// For OperatorDescriptor::infer_outputs: one output, of the dtype and shape of the first input.
[[nodiscard]] Result<std::vector<TensorSpec>> infer_like_first(std::span<const TensorSpec> inputs,
                                                               const Params& params);

// "x f32[8], y f32[4]": the shapes of an error.
[[nodiscard]] std::string describe_pair(const ConstTensorView& x, const ConstTensorView& y);

}  // namespace rooftile
