// What operators from one dense tensor x to another, y, ask of both.
#pragma once

#include <string>

#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"
#include "rooftile/core/view.h"

namespace rooftile {

// Each obeys check_view, has the dtype and is row-major without gaps; both are on one device, and y shares no
// byte with x. Their shapes are the operator's business.
[[nodiscard]] Status check_dense_pair(const ConstTensorView& x, const ConstTensorView& y, DType dtype);

// "x f32[8], y f32[4]": the shapes of an error.
[[nodiscard]] std::string describe_pair(const ConstTensorView& x, const ConstTensorView& y);

}  // namespace rooftile
