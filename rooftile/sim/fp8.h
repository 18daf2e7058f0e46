// The 8-bit floats of cuda_fp8.h, E4M3 and E5M2: storage, conversions, pairs and quads. The bits are those of
// core/dtype.h; what CUDA adds is saturation, one NaN per format, and a NaN without a sign.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>

#include "rooftile/core/dtype.h"
#include "rooftile/sim/bfloat16.h"
#include "rooftile/sim/half.h"
#include "rooftile/sim/intrinsics.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

using __nv_fp8_storage_t = unsigned char;
using __nv_fp8x2_storage_t = unsigned short;
using __nv_fp8x4_storage_t = unsigned;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

namespace detail {

template <__nv_fp8_interpretation_t kFormat>
struct Fp8Format;
template <>
struct Fp8Format<__NV_E4M3> {
  using Bits = Float8E4M3;
  static Bits encode(double value) { return to_float8_e4m3(value); }
  static constexpr unsigned char kLargest = 0x7e;
  static constexpr unsigned char kNan = 0x7f;
};
template <>
struct Fp8Format<__NV_E5M2> {
  using Bits = Float8E5M2;
  static Bits encode(double value) { return to_float8_e5m2(value); }
  static constexpr unsigned char kLargest = 0x7b;
  static constexpr unsigned char kNan = 0x7f;
};

template <__nv_fp8_interpretation_t kFormat>
__nv_fp8_storage_t encode_fp8(double value, __nv_saturation_t saturate) {
  using Format = Fp8Format<kFormat>;
  if (value != value) return Format::kNan;
  const unsigned bits = Format::encode(value).bits;
  if (saturate == __NV_SATFINITE && (bits & 0x7fu) > Format::kLargest) {
    return static_cast<__nv_fp8_storage_t>((bits & 0x80u) | Format::kLargest);
  }
  return static_cast<__nv_fp8_storage_t>(bits);
}

inline __nv_fp8_storage_t encode_fp8(double value, __nv_saturation_t saturate,
                                     __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? encode_fp8<__NV_E4M3>(value, saturate)
                             : encode_fp8<__NV_E5M2>(value, saturate);
}

inline __nv_fp8x2_storage_t pack_fp8(__nv_fp8_storage_t low, __nv_fp8_storage_t high) {
  return static_cast<__nv_fp8x2_storage_t>(low | high << 8);
}

// A finite number as it is, infinity as one, any NaN as the half without a sign.
inline float decode_fp8(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? to_float(Float8E4M3{bits}) : to_float(Float8E5M2{bits});
}

}  // namespace detail

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float a, __nv_saturation_t saturate,
                                                __nv_fp8_interpretation_t format) {
  return detail::encode_fp8(a, saturate, format);
}
inline __nv_fp8_storage_t __nv_cvt_double_to_fp8(double a, __nv_saturation_t saturate,
                                                 __nv_fp8_interpretation_t format) {
  return detail::encode_fp8(a, saturate, format);
}
inline __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw a, __nv_saturation_t saturate,
                                                  __nv_fp8_interpretation_t format) {
  return detail::encode_fp8(__half(a).wide(), saturate, format);
}
inline __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw a, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t format) {
  return detail::encode_fp8(__nv_bfloat16(a).wide(), saturate, format);
}

// The first of two is the low byte.
inline __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 a, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t format) {
  return detail::pack_fp8(detail::encode_fp8(a.x, saturate, format),
                          detail::encode_fp8(a.y, saturate, format));
}
inline __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 a, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t format) {
  return detail::pack_fp8(detail::encode_fp8(a.x, saturate, format),
                          detail::encode_fp8(a.y, saturate, format));
}
inline __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw a, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t format) {
  return detail::pack_fp8(__nv_cvt_halfraw_to_fp8({a.x}, saturate, format),
                          __nv_cvt_halfraw_to_fp8({a.y}, saturate, format));
}
inline __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw a, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t format) {
  return detail::pack_fp8(__nv_cvt_bfloat16raw_to_fp8({a.x}, saturate, format),
                          __nv_cvt_bfloat16raw_to_fp8({a.y}, saturate, format));
}

inline __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t a, __nv_fp8_interpretation_t format) {
  const float wide = detail::decode_fp8(a, format);
  if (wide != wide) return {static_cast<unsigned short>(0x7fff)};
  return __half(wide);
}
inline __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t a, __nv_fp8_interpretation_t format) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(a & 0xffu), format).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(a >> 8), format).x};
}

namespace detail {

// Constructors saturate; conversions to integers truncate and clamp.
template <__nv_fp8_interpretation_t kFormat>
struct Fp8 {
  __nv_fp8_storage_t __x;  // NOLINT(readability-identifier-naming)

  Fp8() = default;
  explicit Fp8(float a) : __x(encode_fp8<kFormat>(a, __NV_SATFINITE)) {}
  explicit Fp8(double a) : __x(encode_fp8<kFormat>(a, __NV_SATFINITE)) {}
  explicit Fp8(__half a) : Fp8(a.wide()) {}
  explicit Fp8(__nv_bfloat16 a) : Fp8(a.wide()) {}
  template <std::integral Integer>
  explicit Fp8(Integer a) : Fp8(static_cast<float>(a)) {}

  explicit operator __half() const { return __nv_cvt_fp8_to_halfraw(__x, kFormat); }
  explicit operator float() const { return __half(*this).wide(); }
  explicit operator double() const { return float(*this); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16(float(*this)); }
  explicit operator bool() const { return (__x & 0x7fu) != 0; }
  template <std::integral Integer>
  explicit operator Integer() const {
    return saturate_to<Integer>(std::trunc(float(*this)));
  }
};

template <__nv_fp8_interpretation_t kFormat>
struct alignas(2) Fp8x2 {
  __nv_fp8x2_storage_t __x;  // NOLINT(readability-identifier-naming)

  Fp8x2() = default;
  explicit Fp8x2(float2 a) : __x(__nv_cvt_float2_to_fp8x2(a, __NV_SATFINITE, kFormat)) {}
  explicit Fp8x2(double2 a) : __x(__nv_cvt_double2_to_fp8x2(a, __NV_SATFINITE, kFormat)) {}
  explicit Fp8x2(__half2 a) : __x(__nv_cvt_halfraw2_to_fp8x2(a, __NV_SATFINITE, kFormat)) {}
  explicit Fp8x2(__nv_bfloat162 a) : __x(__nv_cvt_bfloat16raw2_to_fp8x2(a, __NV_SATFINITE, kFormat)) {}

  explicit operator __half2() const { return __nv_cvt_fp8x2_to_halfraw2(__x, kFormat); }
  explicit operator float2() const { return __half22float2(__half2(*this)); }
};

template <__nv_fp8_interpretation_t kFormat>
struct alignas(4) Fp8x4 {
  __nv_fp8x4_storage_t __x;  // NOLINT(readability-identifier-naming)

  Fp8x4() = default;
  explicit Fp8x4(float4 a) : Fp8x4(Pair(float2{a.x, a.y}), Pair(float2{a.z, a.w})) {}
  explicit Fp8x4(double4 a) : Fp8x4(Pair(double2{a.x, a.y}), Pair(double2{a.z, a.w})) {}
  explicit Fp8x4(__half2 low, __half2 high) : Fp8x4(Pair(low), Pair(high)) {}
  explicit Fp8x4(__nv_bfloat162 low, __nv_bfloat162 high) : Fp8x4(Pair(low), Pair(high)) {}

  explicit operator float4() const {
    Pair low;
    Pair high;
    low.__x = static_cast<__nv_fp8x2_storage_t>(__x);
    high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);
    const auto first = static_cast<float2>(low);
    const auto last = static_cast<float2>(high);
    return {first.x, first.y, last.x, last.y};
  }

 private:
  using Pair = Fp8x2<kFormat>;
  Fp8x4(Pair low, Pair high) : __x(low.__x | static_cast<unsigned>(high.__x) << 16) {}
};

}  // namespace detail

using __nv_fp8_e4m3 = detail::Fp8<__NV_E4M3>;
using __nv_fp8x2_e4m3 = detail::Fp8x2<__NV_E4M3>;
using __nv_fp8x4_e4m3 = detail::Fp8x4<__NV_E4M3>;
using __nv_fp8_e5m2 = detail::Fp8<__NV_E5M2>;
using __nv_fp8x2_e5m2 = detail::Fp8x2<__NV_E5M2>;
using __nv_fp8x4_e5m2 = detail::Fp8x4<__NV_E5M2>;

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
