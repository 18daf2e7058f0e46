// Device functions of a real argument that neither <math.h> nor the fast forms of math.h have.
#pragma once

#include <cmath>

namespace rooftile::simt {

namespace detail {
[[nodiscard]] double sine_of_pi(double a);
[[nodiscard]] double cosine_of_pi(double a);
[[nodiscard]] double scaled_complementary_error(double a);  // exp(a * a) * erfc(a)
[[nodiscard]] double normal_quantile(double a);             // the inverse of the normal distribution
[[nodiscard]] double inverse_error(double a);
[[nodiscard]] double inverse_complementary_error(double a);
// Without overflow in between.
[[nodiscard]] double norm_of(const double* values, int count);
}  // namespace detail

inline double norm(int count, const double* values) { return detail::norm_of(values, count); }
inline double norm3d(double a, double b, double c) {
  const double values[] = {a, b, c};
  return detail::norm_of(values, 3);
}
inline double norm4d(double a, double b, double c, double d) {
  const double values[] = {a, b, c, d};
  return detail::norm_of(values, 4);
}
inline double rnorm3d(double a, double b, double c) { return 1 / norm3d(a, b, c); }
inline double rnorm4d(double a, double b, double c, double d) { return 1 / norm4d(a, b, c, d); }
inline double rhypot(double a, double b) { return 1 / std::hypot(a, b); }
inline float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
inline float norm4df(float a, float b, float c, float d) { return static_cast<float>(norm4d(a, b, c, d)); }
inline float rnorm3df(float a, float b, float c) { return static_cast<float>(rnorm3d(a, b, c)); }
inline float rnorm4df(float a, float b, float c, float d) { return static_cast<float>(rnorm4d(a, b, c, d)); }
inline float rhypotf(float a, float b) { return static_cast<float>(rhypot(a, b)); }

inline double sinpi(double a) { return detail::sine_of_pi(a); }
inline double cospi(double a) { return detail::cosine_of_pi(a); }
inline void sincospi(double a, double* sine, double* cosine) {
  *sine = sinpi(a);
  *cosine = cospi(a);
}
inline float sinpif(float a) { return static_cast<float>(sinpi(a)); }
inline float cospif(float a) { return static_cast<float>(cospi(a)); }
inline void sincospif(float a, float* sine, float* cosine) {
  *sine = sinpif(a);
  *cosine = cospif(a);
}

inline double erfcx(double a) { return detail::scaled_complementary_error(a); }
inline float erfcxf(float a) { return static_cast<float>(erfcx(a)); }
inline double normcdfinv(double a) { return detail::normal_quantile(a); }
inline float normcdfinvf(float a) { return static_cast<float>(normcdfinv(a)); }
inline double erfinv(double a) { return detail::inverse_error(a); }
inline float erfinvf(float a) { return static_cast<float>(erfinv(a)); }
inline double erfcinv(double a) { return detail::inverse_complementary_error(a); }
inline float erfcinvf(float a) { return static_cast<float>(erfcinv(a)); }

}  // namespace rooftile::simt
