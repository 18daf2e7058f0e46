// The device's 16-bit floats as element types.
#pragma once

#include "rooftile/core/dtype.h"
#include "rooftile/device/target.h"

namespace rooftile {
#if defined(ROOFTILE_SIM)
template <>
inline constexpr DType dtype_of<simt::__half> = DType::f16;
template <>
inline constexpr DType dtype_of<simt::__nv_bfloat16> = DType::bf16;
#else
template <>
inline constexpr DType dtype_of<::__half> = DType::f16;
template <>
inline constexpr DType dtype_of<::__nv_bfloat16> = DType::bf16;
#endif
}  // namespace rooftile
