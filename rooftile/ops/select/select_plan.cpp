#include "rooftile/ops/select/select_plan.h"

#include <cmath>
#include <limits>

namespace rooftile::select_plan {

KeyLimit limit_of_integers(DType dtype, double threshold) {
  const int bits = 8 * static_cast<int>(size_of(dtype));
  const double values = std::ldexp(1.0, bits);  // that there are, the lowest first
  const double lowest = is_signed(dtype) ? -values / 2 : 0;
  if (threshold < lowest) return {.least = 0, .any = true};
  if (std::isnan(threshold) || threshold >= lowest + values) return {};
  const double whole = std::floor(threshold);  // the largest that is not chosen
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t key = is_signed(dtype)
                                ? static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) + sign
                                : static_cast<std::uint64_t>(whole);
  const std::uint64_t last = sign - 1 + sign;
  return key == last ? KeyLimit{} : KeyLimit{.least = key + 1, .any = true};
}

float limit_of_floats(double threshold) {
  const auto nearest = static_cast<float>(threshold);
  return static_cast<double>(nearest) > threshold
             ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
             : nearest;
}

}  // namespace rooftile::select_plan
