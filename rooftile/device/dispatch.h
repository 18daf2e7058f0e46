// From a run-time dtype to a compile-time element type.
#pragma once

#include <string>

#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"

namespace rooftile {

template <class... Ts>
struct DTypes {};

template <class Body>
[[nodiscard]] Status dispatch(DTypes<>, DType dtype, Body&&) {
  return unsupported("this rung is not compiled for " + std::string(to_string(dtype)));
}

// Calls body.operator()<T>() with the T of the list whose dtype it is; `unsupported` where none is.
template <class First, class... Rest, class Body>
[[nodiscard]] Status dispatch(DTypes<First, Rest...>, DType dtype, Body&& body) {
  if (dtype_of<First> == dtype) return body.template operator()<First>();
  return dispatch(DTypes<Rest...>{}, dtype, body);
}

}  // namespace rooftile
