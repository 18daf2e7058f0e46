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

namespace {

// The percentile bootstrap of a statistic of n drawn indices.
template <class Statistic>
Interval bootstrap(std::size_t n, double estimate, std::uint64_t seed, double confidence,
                   Statistic statistic) {
  std::vector<double> values;
  values.reserve(kResamples);
  std::vector<std::size_t> drawn(n);
  const PhiloxKey key = philox_key(seed);
  for (std::uint64_t r = 0; r < kResamples; ++r) {
    for (std::size_t i = 0; i < n; i += 4) {
      const PhiloxCounter words = philox4x32_10(philox_counter(i / 4, r), key);
      const std::uint32_t w[4] = {words.x, words.y, words.z, words.w};
      for (std::size_t j = 0; j < 4 && i + j < n; ++j)
        drawn[i + j] = static_cast<std::size_t>((std::uint64_t{w[j]} * n) >> 32);
    }
    values.push_back(statistic(drawn));
  }
  std::sort(values.begin(), values.end());
  const double tail = 0.5 * (1.0 - confidence);
  return {estimate, sorted_quantile(values, tail), sorted_quantile(values, 1.0 - tail)};
}

// Calls with scratch of its own for each resample.
class MedianOfDrawn {
 public:
  explicit MedianOfDrawn(std::span<const double> samples) : samples_(samples), scratch_(samples.size()) {}
  double operator()(const std::vector<std::size_t>& drawn) {
    for (std::size_t i = 0; i < drawn.size(); ++i) scratch_[i] = samples_[drawn[i]];
    return median_of(scratch_);
  }

 private:
  std::span<const double> samples_;
  std::vector<double> scratch_;
};

}  // namespace

Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed, double confidence) {
  return bootstrap(samples.size(), quantile(samples, 0.5), seed, confidence, MedianOfDrawn(samples));
}

Interval ratio_of_medians(std::span<const double> own, std::span<const double> others, std::uint64_t seed,
                          double confidence) {
  MedianOfDrawn own_median(own);
  MedianOfDrawn others_median(others);
  return bootstrap(
      own.size(), quantile(others, 0.5) / quantile(own, 0.5), seed, confidence,
      [&](const std::vector<std::size_t>& drawn) { return others_median(drawn) / own_median(drawn); });
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
