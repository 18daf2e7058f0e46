#include "rooftile/sim/special_functions.h"

#include <algorithm>
#include <limits>
#include <numbers>

namespace rooftile::simt::detail {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// x with erfc(x) = a, for 0 < a <= 1: a start that is right to the leading term, then Newton's steps on the
// logarithm, which is nearly a parabola and so converges from afar.
double inverse_of_erfc_tail(double a) {
  double x = std::sqrt(std::max(0.0, -std::log(a)));
  constexpr int kSteps = 40;
  for (int i = 0; i < kSteps; ++i) {
    // d/dx log erfc(x) = -2 / (sqrt(pi) erfcx(x))
    const double scaled = scaled_complementary_error(x);
    const double log_value = std::log(scaled) - x * x;
    const double step = (log_value - std::log(a)) * scaled / (2 * std::numbers::inv_sqrtpi);
    const double next = std::max(0.0, x + step);
    if (std::abs(next - x) <= 1e-16 * x) break;
    x = next;
  }
  return x;
}

}  // namespace

double sine_of_pi(double a) {
  if (!std::isfinite(a)) return kNan;
  // Exact: a quarter turn decides the sign and which function it is.
  const double quarters = std::nearbyint(2 * std::fmod(a, 2.0));
  const double rest = std::numbers::pi * (std::fmod(a, 2.0) - quarters / 2);
  switch (static_cast<int>(quarters) & 3) {
    case 0:
      return a == 0 ? a : std::copysign(std::sin(rest), rest == 0 ? a : rest);
    case 1:
      return std::cos(rest);
    case 2:
      return rest == 0 ? std::copysign(0.0, a) : -std::sin(rest);
    default:
      return -std::cos(rest);
  }
}

double cosine_of_pi(double a) {
  if (!std::isfinite(a)) return kNan;
  const double quarters = std::nearbyint(2 * std::fmod(a, 2.0));
  const double rest = std::numbers::pi * (std::fmod(a, 2.0) - quarters / 2);
  switch (static_cast<int>(quarters) & 3) {
    case 0:
      return std::cos(rest);
    case 1:
      return 0 - std::sin(rest);
    case 2:
      return -std::cos(rest);
    default:
      return 0 + std::sin(rest);
  }
}

double scaled_complementary_error(double a) {
  constexpr double kSeriesFrom = 25;  // from here on erfc is near the smallest double
  if (a < kSeriesFrom) return std::exp(a * a) * std::erfc(a);
  const double square = a * a;
  const double series = 1 - 1 / (2 * square) * (1 - 3 / (2 * square) * (1 - 5 / (2 * square)));
  return series * std::numbers::inv_sqrtpi / a;
}

double inverse_complementary_error(double a) {
  if (!(a >= 0 && a <= 2)) return kNan;
  if (a == 0) return kInfinity;
  if (a == 2) return -kInfinity;
  if (a > 0.5 && a < 1.5) return inverse_error(1 - a);
  return a < 1 ? inverse_of_erfc_tail(a) : -inverse_of_erfc_tail(2 - a);
}

double inverse_error(double a) {
  if (!(a >= -1 && a <= 1)) return kNan;
  if (std::abs(a) == 1) return std::copysign(kInfinity, a);
  if (std::abs(a) > 0.5) return std::copysign(inverse_of_erfc_tail(1 - std::abs(a)), a);
  // erf is nearly straight here; the start is its tangent at 0.
  double x = a / (2 * std::numbers::inv_sqrtpi);
  constexpr int kSteps = 8;
  for (int i = 0; i < kSteps; ++i) x -= (std::erf(x) - a) * std::exp(x * x) / (2 * std::numbers::inv_sqrtpi);
  return a == 0 ? a : x;
}

double normal_quantile(double a) {
  if (!(a >= 0 && a <= 1)) return kNan;
  return -std::numbers::sqrt2 * inverse_complementary_error(2 * a);
}

double norm_of(const double* values, int count) {
  double largest = 0;
  bool has_nan = false;
  for (int i = 0; i < count; ++i) {
    if (std::isinf(values[i])) return kInfinity;
    has_nan = has_nan || std::isnan(values[i]);
    largest = std::max(largest, std::abs(values[i]));
  }
  if (has_nan) return kNan;
  if (largest == 0) return 0;
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (values[i] / largest) * (values[i] / largest);
  return largest * std::sqrt(sum);
}

}  // namespace rooftile::simt::detail
