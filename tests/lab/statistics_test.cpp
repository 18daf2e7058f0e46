#include "rooftile/lab/time/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rooftile/core/philox.h"

namespace rooftile::lab {
namespace {

// n ratios around `centre`: the sum of 4 uniforms, of standard deviation about `spread`.
std::vector<double> noisy(int n, double centre, double spread, std::uint64_t seed) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) {
    const PhiloxCounter w = philox4x32_10(philox_counter(static_cast<std::uint64_t>(i), 0), philox_key(seed));
    const double sum =
        philox_unit_float(w.x) + philox_unit_float(w.y) + philox_unit_float(w.z) + philox_unit_float(w.w);
    values.push_back(centre + spread * (sum - 2.0) * std::sqrt(3.0));
  }
  return values;
}

TEST(Statistics, QuantilesInterpolate) {
  const std::vector<double> samples = {4.0, 1.0, 3.0, 2.0};
  EXPECT_DOUBLE_EQ(quantile(samples, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile(samples, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(samples, 1.0), 4.0);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Statistics, Summary) {
  const Summary summary = summarize(std::vector<double>{1, 2, 3, 4, 100});
  EXPECT_DOUBLE_EQ(summary.median, 3.0);
  EXPECT_DOUBLE_EQ(summary.iqr, 2.0);
  EXPECT_EQ(summary.n, 5);
  EXPECT_DOUBLE_EQ(summarize(std::vector<double>{7}).iqr, 0.0);
}

TEST(Statistics, TheBootstrapIntervalIsReproducibleAndHoldsTheMedian) {
  const std::vector<double> samples = noisy(31, 1.1, 0.02, 5);
  const Interval a = bootstrap_median(samples, 9);
  const Interval b = bootstrap_median(samples, 9);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_LE(a.low, a.median);
  EXPECT_GE(a.high, a.median);
  EXPECT_GT(a.high - a.low, 0.0);
  const Interval one = bootstrap_median(std::vector<double>{2.0}, 1);
  EXPECT_EQ(one.low, 2.0);
  EXPECT_EQ(one.high, 2.0);
}

TEST(Statistics, TheBootstrapIntervalCoversTheTruth) {
  int covered = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Interval interval = bootstrap_median(noisy(25, 1.0, 0.1, static_cast<std::uint64_t>(trial + 1)), 3);
    covered += interval.low <= 1.0 && 1.0 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, kTrials * 90 / 100);  // nominal 95 %
}

TEST(Statistics, Verdicts) {
  EXPECT_EQ(judge({1.0, 0.995, 1.005}, 30), Verdict::same);
  EXPECT_EQ(judge({1.1, 1.05, 1.15}, 30), Verdict::faster);
  EXPECT_EQ(judge({0.9, 0.85, 0.95}, 30), Verdict::slower);
  EXPECT_EQ(judge({1.0, 0.8, 1.2}, 30), Verdict::insufficient);
  EXPECT_EQ(judge({1.1, 1.05, 1.15}, 4), Verdict::insufficient);
  EXPECT_EQ(judge({1.1, 0.99, 1.15}, 30), Verdict::insufficient);
  // Less than 1 % is no difference, however surely it is there.
  EXPECT_EQ(judge({1.008, 1.007, 1.009}, 30), Verdict::same);
  EXPECT_EQ(judge({0.992, 0.991, 0.993}, 30), Verdict::same);
  EXPECT_EQ(judge({1.02, 1.01, 1.03}, 30), Verdict::faster);
  // "same" excludes 3 %.
  EXPECT_EQ(judge({1.005, 0.99, 1.031}, 30), Verdict::insufficient);
  // A coarse clock: differences within its step are none.
  EXPECT_EQ(judge({1.02, 1.01, 1.03}, 30, 0.025), Verdict::same);
  EXPECT_EQ(judge({1.03, 1.01, 1.05}, 30, 0.025), Verdict::faster);
  EXPECT_EQ(judge({1.02, 1.01, 1.04}, 30, 0.025), Verdict::insufficient);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge({nan, nan, nan}, 30), Verdict::insufficient);
  EXPECT_EQ(judge({nan, 1.1, 1.2}, 30), Verdict::insufficient);
}

TEST(Statistics, AMedianIsQuotedOnlyOfEnoughAndSteadySamples) {
  EXPECT_FALSE(too_wide(noisy(30, 100.0, 3.0, 1), 1));
  EXPECT_TRUE(too_wide(noisy(30, 100.0, 40.0, 1), 1));
  EXPECT_TRUE(too_wide(noisy(9, 100.0, 0.1, 1), 1));
  EXPECT_TRUE(too_wide(std::vector<double>(30, std::numeric_limits<double>::quiet_NaN()), 1));
  EXPECT_TRUE(too_wide({}, 1));
}

TEST(Statistics, EqualRowsAreRarelyCalledDifferentAndThreePercentIsFound) {
  int wrong = 0;
  int found = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto seed = static_cast<std::uint64_t>(trial + 1000);
    const Verdict equal = judge(bootstrap_median(noisy(30, 1.0, 0.02, seed), seed), 30);
    const Verdict differ = judge(bootstrap_median(noisy(30, 1.03, 0.02, seed), seed), 30);
    wrong += equal == Verdict::faster || equal == Verdict::slower ? 1 : 0;
    found += differ == Verdict::faster ? 1 : 0;
  }
  EXPECT_LE(wrong, kTrials * 5 / 100);
  EXPECT_GE(found, kTrials * 90 / 100);
}

}  // namespace
}  // namespace rooftile::lab
