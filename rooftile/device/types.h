// The device's 16-bit floats as element types.
#pragma once

#include "rooftile/core/element.h"
#include "rooftile/device/target.h"

namespace rooftile {
#if defined(ROOFTILE_SIM)
template <>
struct ElementType<simt::__half> {
  static constexpr DType dtype = DType::f16;
};
template <>
struct ElementType<simt::__nv_bfloat16> {
  static constexpr DType dtype = DType::bf16;
};
#else
template <>
struct ElementType<::__half> {
  static constexpr DType dtype = DType::f16;
};
template <>
struct ElementType<::__nv_bfloat16> {
  static constexpr DType dtype = DType::bf16;
};
#endif
}  // namespace rooftile
