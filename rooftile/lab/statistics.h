// What a handful of time samples says, and whether two rows differ.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rooftile::lab {

// The q-quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan 1996); NaN of
// nothing.
[[nodiscard]] double quantile(std::span<const double> samples, double q);

struct Summary {
  double median = 0;
  double iqr = 0;  // third quartile minus first
  int n = 0;
};
[[nodiscard]] Summary summarize(std::span<const double> samples);

// A median with its confidence interval.
struct Interval {
  double median = 0;
  double low = 0;
  double high = 0;
};

// The percentile bootstrap of the median: 2000 resamples drawn by Philox from `seed`, so that a report can be
// computed again. Precondition: samples is not empty.
[[nodiscard]] Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed,
                                        double confidence = 0.95);

enum class Verdict { faster, slower, same, insufficient };
[[nodiscard]] std::string_view to_string(Verdict verdict);

// From the interval of the pairwise ratios peer time / our time (above 1: we are faster) of n pairs.
//   faster, slower  the interval excludes 1 and the median differs from it by more than 1 %: less moves with
//                   the placement of buffers alone
//   same            the median lies within 1 % of 1 and the interval within 3 %
//   insufficient    anything else, and fewer than 10 pairs
[[nodiscard]] Verdict judge(const Interval& ratio, int n);

// Whether samples are too few, or scattered too widely, to quote their median: fewer than 10, or a 95 %
// interval of the median wider than a tenth of it.
[[nodiscard]] bool too_wide(std::span<const double> samples, std::uint64_t seed);

}  // namespace rooftile::lab
