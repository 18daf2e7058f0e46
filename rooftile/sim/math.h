// Device maths that the host's <math.h> lacks. The fast forms are the accurate ones here: a kernel's
// tolerance has to allow for the GPU's error, which the simulated SM does not show.
#pragma once

#include <math.h>  // NOLINT(modernize-deprecated-headers): kernels call sqrtf and its kin without std::

#include <cmath>
#include <type_traits>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

inline float __expf(float a) { return std::exp(a); }
inline float __exp10f(float a) { return std::pow(10.0f, a); }
inline float __logf(float a) { return std::log(a); }
inline float __log2f(float a) { return std::log2(a); }
inline float __log10f(float a) { return std::log10(a); }
inline float __sinf(float a) { return std::sin(a); }
inline float __cosf(float a) { return std::cos(a); }
inline float __tanf(float a) { return std::tan(a); }
inline float __powf(float a, float b) { return std::pow(a, b); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline void __sincosf(float a, float* sine, float* cosine) {
  *sine = std::sin(a);
  *cosine = std::cos(a);
}
inline float rsqrtf(float a) { return static_cast<float>(1.0 / std::sqrt(double{a})); }
inline double rsqrt(double a) { return 1.0 / std::sqrt(a); }
inline float __frsqrt_rn(float a) { return rsqrtf(a); }
inline float rcbrtf(float a) { return static_cast<float>(1.0 / std::cbrt(double{a})); }
inline float normcdff(float a) { return static_cast<float>(0.5 * std::erfc(-double{a} * M_SQRT1_2)); }
inline double normcdf(double a) { return 0.5 * std::erfc(-a * M_SQRT1_2); }
inline float exp10f(float a) { return static_cast<float>(std::pow(10.0, double{a})); }
inline float __saturatef(float a) { return a >= 0 ? (a <= 1 ? a : 1.0f) : 0.0f; }  // NaN becomes 0

// CUDA's min and max take mixed arithmetic types; of floats, NaN loses against a number.
template <class A, class B>
requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>) constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a);
  const T y = static_cast<T>(b);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return y;
    if (y != y) return x;
  }
  return y < x ? y : x;
}
template <class A, class B>
requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>) constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  const T x = static_cast<T>(a);
  const T y = static_cast<T>(b);
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return y;
    if (y != y) return x;
  }
  return y > x ? y : x;
}

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
