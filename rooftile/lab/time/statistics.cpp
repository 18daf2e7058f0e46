#include "rooftile/lab/time/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "rooftile/core/philox.h"

namespace rooftile::lab {
namespace {

constexpr int kResamples = 2000;
constexpr int kFewestPairs = 10;    // below, a verdict would rest on chance
constexpr double kMustFind = 0.03;  // "same" says that a difference of this size is excluded
constexpr double kWidestMedian = 0.1;

double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double position = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

double median_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted_quantile(sorted, q);
}

Summary summarize(std::span<const double> samples) {
  return {quantile(samples, 0.5), quantile(samples, 0.75) - quantile(samples, 0.25),
          static_cast<int>(samples.size())};
}

Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed, double confidence) {
  const std::size_t n = samples.size();
  std::vector<double> medians;
  medians.reserve(kResamples);
  std::vector<double> resample(n);
  const PhiloxKey key = philox_key(seed);
  for (std::uint64_t r = 0; r < kResamples; ++r) {
    for (std::size_t i = 0; i < n; i += 4) {
      const PhiloxCounter words = philox4x32_10(philox_counter(i / 4, r), key);
      const std::uint32_t w[4] = {words.x, words.y, words.z, words.w};
      for (std::size_t j = 0; j < 4 && i + j < n; ++j) {
        resample[i + j] = samples[static_cast<std::size_t>((std::uint64_t{w[j]} * n) >> 32)];
      }
    }
    medians.push_back(median_of(resample));
  }
  std::sort(medians.begin(), medians.end());
  const double tail = 0.5 * (1.0 - confidence);
  return {quantile(samples, 0.5), sorted_quantile(medians, tail), sorted_quantile(medians, 1.0 - tail)};
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::faster:
      return "faster";
    case Verdict::slower:
      return "slower";
    case Verdict::same:
      return "same";
    case Verdict::insufficient:
      return "insufficient";
  }
  return "insufficient";
}

Verdict judge(const Interval& ratio, int n, double margin) {
  if (n < kFewestPairs || !std::isfinite(ratio.median) || !std::isfinite(ratio.low) ||
      !std::isfinite(ratio.high))
    return Verdict::insufficient;
  const bool near = std::abs(ratio.median - 1.0) <= margin;
  if (near) {
    const double widest = std::max(kMustFind, margin);
    const bool tight = ratio.low >= 1.0 - widest && ratio.high <= 1.0 + widest;
    return tight ? Verdict::same : Verdict::insufficient;
  }
  if (ratio.low > 1.0) return Verdict::faster;
  if (ratio.high < 1.0) return Verdict::slower;
  return Verdict::insufficient;
}

bool too_wide(std::span<const double> samples, std::uint64_t seed) {
  if (static_cast<int>(samples.size()) < kFewestPairs) return true;
  const Interval interval = bootstrap_median(samples, seed);
  return !(interval.high - interval.low <= kWidestMedian * interval.median);
}

}  // namespace rooftile::lab
