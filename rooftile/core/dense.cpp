#include "rooftile/core/dense.h"

namespace rooftile {
namespace {

Status check_dense(const ConstTensorView& view, const std::string& name, DType dtype) {
  ROOFTILE_TRY(check_view(view, name));
  if (view.dtype != dtype) return unsupported(name + " must be " + std::string(to_string(dtype)));
  if (!view.contiguous()) return unsupported(name + " must be row-major without gaps: copy it first");
  return {};
}

}  // namespace

Status check_dense_pair(const ConstTensorView& x, const ConstTensorView& y, DType dtype) {
  ROOFTILE_TRY(check_dense(x, "x", dtype));
  ROOFTILE_TRY(check_dense(y, "y", dtype));
  if (x.device != y.device) return invalid_argument("x and y must be on the same device");
  if (overlaps(x, y)) return invalid_argument("y must not overlap x");
  return {};
}

Status check_dense_alike(const ConstTensorView& x, const ConstTensorView& y, DType dtype) {
  ROOFTILE_TRY(check_dense_pair(x, y, dtype));
  return x.shape == y.shape ? Status() : invalid_argument("y must have the shape of x");
}

Result<std::vector<TensorSpec>> infer_like_first(std::span<const TensorSpec> inputs, const Params&) {
  return std::vector<TensorSpec>{inputs[0]};
}

std::string describe_pair(const ConstTensorView& x, const ConstTensorView& y) {
  return "x " + x.to_string() + ", y " + y.to_string();
}

}  // namespace rooftile
