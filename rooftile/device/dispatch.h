// From a run-time dtype to a compile-time element type.
#pragma once

#include <string>

#include "rooftile/core/dtype.h"
#include "rooftile/core/element.h"
#include "rooftile/core/status.h"

namespace rooftile {

template <class... Ts>
struct DTypes {};

// What a rung of many dtypes is compiled for: all of them; but in the checked build, whose instrumented
// kernels tell nothing new of each further type, a part that goes through every path of the kernel.
#if defined(ROOFTILE_SIM_CHECKED)
template <class All, class Checked>
using CompiledDTypes = Checked;
inline constexpr const char* kThisBuild = "the checked build of this rung";
#else
template <class All, class Checked>
using CompiledDTypes = All;
inline constexpr const char* kThisBuild = "this rung";
#endif

// Calls body.operator()<T>() with the T of the list whose dtype it is; `unsupported` where none is.
template <class... Ts, class Body>
[[nodiscard]] Status dispatch(DTypes<Ts...>, DType dtype, Body&& body) {
  Status status;
  const bool found = ((dtype_of<Ts> == dtype && (status = body.template operator()<Ts>(), true)) || ...);
  if (found) return status;
  return unsupported(std::string(kThisBuild) + " is not compiled for " + std::string(to_string(dtype)) +
                     ", but for " + DTypeSet{dtype_of<Ts>...}.to_string());
}

}  // namespace rooftile
