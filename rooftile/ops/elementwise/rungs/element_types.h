// Elements as the numbers that functions take, and back: every conversion that a dtype asks for, once.
#pragma once

#include <cuda_fp8.h>

#include <cstdint>
#include <type_traits>

#include "rooftile/core/small_float.h"
#include "rooftile/device/types.h"
#include "rooftile/ops/elementwise/elementwise_math.h"

namespace rooftile::ROOFTILE_TARGET::elementwise_rungs {

// 8-bit floats as types: bits alone.
struct E4m3 {
  std::uint8_t bits;
};
struct E5m2 {
  std::uint8_t bits;
};

__device__ __forceinline__ float from_fp8(std::uint8_t bits, __nv_fp8_interpretation_t format) {
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, format)));
}
__device__ __forceinline__ float widened(__half x) { return __half2float(x); }
__device__ __forceinline__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float widened(E4m3 x) { return from_fp8(x.bits, __NV_E4M3); }
__device__ __forceinline__ float widened(E5m2 x) { return from_fp8(x.bits, __NV_E5M2); }
template <class T>
requires std::is_arithmetic_v<T> __device__ __forceinline__ T widened(T x) { return x; }

__device__ __forceinline__ __half to_half(float x) { return __float2half_rn(x); }
__device__ __forceinline__ __half to_half(double x) { return __double2half(x); }
__device__ __forceinline__ __nv_bfloat16 to_bfloat16(float x) { return __float2bfloat16_rn(x); }
__device__ __forceinline__ __nv_bfloat16 to_bfloat16(double x) { return __double2bfloat16(x); }
// The instruction saturates; the conversion does not: what rounds to more than the largest is NaN, or infinity.
__device__ __forceinline__ E4m3 to_e4m3(float x) {
  constexpr float kRoundsTo448 = 464;  // and what is above it to 480, which there is not
  const std::uint8_t bits = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E4M3);
  return {fabsf(x) > kRoundsTo448 ? static_cast<std::uint8_t>(bits | 0x7f) : bits};
}
__device__ __forceinline__ E5m2 to_e5m2(float x) {
  constexpr float kRoundsUp = 61440;  // half way from the largest, 57344, to 65536: to even
  const std::uint8_t bits = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, __NV_E5M2);
  return {fabsf(x) >= kRoundsUp ? static_cast<std::uint8_t>((bits & 0x80) | 0x7c) : bits};
}
__device__ __forceinline__ E4m3 to_e4m3(double x) { return {static_cast<std::uint8_t>(E4M3::encode(x))}; }
__device__ __forceinline__ E5m2 to_e5m2(double x) { return {static_cast<std::uint8_t>(E5M2::encode(x))}; }

// x rounded once to T, from what it was computed in.
template <class T, class Acc>
__device__ __forceinline__ T narrowed(Acc x) {
  if constexpr (std::is_integral_v<T>) {
    return elementwise_math::ToInteger<T>()(x);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(x);
  } else if constexpr (std::is_same_v<T, __half>) {
    return to_half(elementwise_math::exact(x));
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return to_bfloat16(elementwise_math::exact(x));
  } else if constexpr (std::is_same_v<T, E4m3>) {
    return to_e4m3(elementwise_math::exact(x));
  } else {
    return to_e5m2(elementwise_math::exact(x));
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::elementwise_rungs
