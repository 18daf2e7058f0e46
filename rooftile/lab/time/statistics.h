// What a handful of time samples says, and whether two rows differ.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rooftile::lab {

// The q-quantile by linear interpolation between order
// statistics (type 7 of Hyndman and Fan 1996); NaN of nothing.
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

// Of whatever a report says of its samples.
inline constexpr std::uint64_t kBootstrapSeed = 1;

// The percentile bootstrap of the median: 2000 resamples drawn by Philox from `seed`, so that a report can be
// computed again. Precondition: samples is not empty.
[[nodiscard]] Interval bootstrap_median(std::span<const double> samples, std::uint64_t seed,
                                        double confidence = 0.95);

// median(others) / median(own) of series whose i-th samples were taken in the same round; the interval by resampling
// rounds, so that what disturbs a round disturbs both. Precondition: as many of either, not none.
[[nodiscard]] Interval ratio_of_medians(std::span<const double> own, std::span<const double> others,
                                        std::uint64_t seed, double confidence = 0.99);

enum class Verdict { faster, slower, same, insufficient };
[[nodiscard]] std::string_view to_string(Verdict verdict);

// Differences below 1 % are not called differences: so much moves with the placement of buffers alone.
inline constexpr double kSameMargin = 0.01;
// And on a GPU those below so many microseconds: launches of 5 to 8 us on twin buffers differ by up to 0.2 us, always in
// the same direction (H200, `rooftile verdicts`).
inline constexpr double kPlacementUs = 0.3;
// On a host those below 2 %: where the pages of a buffer lie decides which sets of a cache they share.
inline constexpr double kHostMargin = 0.02;
// And of data of about the cache's size in hot modes those below 4 %: twin buffers differ by 1 to 4 %, always in the same
// direction (H200, 64 MiB).
inline constexpr double kNearCacheMargin = 0.04;

// From the interval of the ratio peer time / our time (above 1: we are faster) of n rounds. `margin`
// is the smallest difference that is called one: larger than 1 % where placement decides more.
//   faster, slower  the interval excludes 1 and the median differs from it by more than the margin
//   same            the median lies within the margin of 1 and the interval within 3 % (or the margin)
//   insufficient    anything else, and fewer than 10 pairs
[[nodiscard]] Verdict judge(const Interval& ratio, int n, double margin = kSameMargin);

// Whether samples are too few, or scattered too widely, to quote their median: fewer than 10, or a 95 %
// interval of the median wider than a tenth of it.
[[nodiscard]] bool too_wide(std::span<const double> samples, std::uint64_t seed);

}  // namespace rooftile::lab
