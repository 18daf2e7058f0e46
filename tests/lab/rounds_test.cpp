// Verdicts of launches that take turns: on launches whose difference is known, and what a trial of verdicts reports.
#include <gtest/gtest.h>
#include <sched.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/lab/ladder/verdict_trial.h"
#include "rooftile/lab/time/pinned_threads.h"
#include "rooftile/lab/time/timing.h"
#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

// A chain of dependent additions: its time is its length.
TimedLaunch chain(std::int64_t length) {
  return {.launch = [length] {
    volatile std::int64_t sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum = sum + i;
    return Status();
  }};
}

Result<std::vector<TimeSeries>> take_turns(const std::vector<TimedLaunch>& launches,
                                           TimingOptions options = {}, const Settled& settled = nullptr) {
  const Result<const DeviceProperties*> host = device_properties(kCpu);
  EXPECT_TRUE(host.ok());
  if (options.mode == TimeMode::stream_cold) options.mode = TimeMode::stream_hot;
  return time_interleaved({kCpu, nullptr}, **host, launches, options, settled, nullptr);
}

SeriesComparison compare(const std::vector<TimeSeries>& series) {
  return compare_series(series[0], series[1], {DeviceKind::cpu}, 1);
}

TEST(Rounds, FindWhichOfTwoIsFaster) {
  const auto decided = [](std::span<const TimeSeries> so_far) {
    return compare_series(so_far[0], so_far[1], {DeviceKind::cpu}, 1).verdict != Verdict::insufficient;
  };
  const std::vector<TimeSeries> series =
      take_turns({chain(30000), chain(60000), chain(1000)}, {.max_rounds = 960}, decided).value();
  EXPECT_GE(series[0].samples_us.size(), 60u);
  EXPECT_EQ(compare(series).verdict, Verdict::faster);
  EXPECT_GT(compare(series).ratio.median, 1.3);
  EXPECT_EQ(compare_series(series[1], series[0], {DeviceKind::cpu}, 1).verdict, Verdict::slower);
}

// Ratio, times and verdict are of the same samples: they cannot contradict each other.
TEST(Rounds, TheRatioIsThatOfTheMedians) {
  const std::vector<TimeSeries> series = take_turns({chain(3000), chain(3500)}).value();
  const SeriesComparison comparison = compare(series);
  EXPECT_DOUBLE_EQ(comparison.ratio.median,
                   quantile(series[1].samples_us, 0.5) / quantile(series[0].samples_us, 0.5));
  EXPECT_LE(comparison.ratio.low, comparison.ratio.median);
  EXPECT_GE(comparison.ratio.high, comparison.ratio.median);
}

TEST(Rounds, GoOnUntilTheyAreSettled) {
  int looks = 0;
  const auto at_the_third = [&looks](std::span<const TimeSeries>) { return ++looks == 3; };
  const std::vector<TimeSeries> series =
      take_turns({chain(100), chain(100)}, {.first_look = 10}, at_the_third).value();
  EXPECT_EQ(series[0].samples_us.size(), 40u);
  const std::vector<TimeSeries> never =
      take_turns({chain(100)}, {.first_look = 10, .max_rounds = 50}, [](std::span<const TimeSeries>) {
        return false;
      }).value();
  EXPECT_EQ(never[0].samples_us.size(), 50u);
}

TEST(Rounds, ALaunchThatFailsHasNoTimeAndSpoilsNoOther) {
  int runs = 0;
  const TimedLaunch fails_later = {.launch = [&runs]() -> Status {
    if (++runs > 10) return Status::error(StatusCode::device_error, "planted");
    return {};
  }};
  const std::vector<TimeSeries> series = take_turns({chain(1000), fails_later}).value();
  EXPECT_NE(series[1].status.message().find("planted"), std::string::npos);
  EXPECT_TRUE(series[1].samples_us.empty());
  EXPECT_EQ(series[0].samples_us.size(), 60u);
  EXPECT_EQ(compare(series).verdict, Verdict::insufficient);
}

TEST(Rounds, ALaunchThatFailedIsKnownAtTheNextLook) {
  int runs = 0;
  const TimedLaunch fails_later = {.launch = [&runs]() -> Status {
    if (++runs > 10) return Status::error(StatusCode::device_error, "planted");
    return {};
  }};
  bool known = false;
  const auto look = [&known](std::span<const TimeSeries> so_far) {
    known = !so_far[1].status.ok() && so_far[1].samples_us.empty() && so_far[0].status.ok();
    return true;
  };
  EXPECT_TRUE(take_turns({chain(1000), fails_later}, {}, look).ok());
  EXPECT_TRUE(known);
}

TEST(Rounds, ABudgetThatIsSpentSaysInsufficient) {
  const std::vector<TimeSeries> series = take_turns({chain(1000), chain(1000)}, {.budget_s = 1e-9}).value();
  EXPECT_LT(series[0].samples_us.size(), 60u);
  if (series[0].samples_us.size() < 10) {
    EXPECT_EQ(compare(series).verdict, Verdict::insufficient);
  }
}

TEST(Rounds, GraphsNeedAGpu) {
  EXPECT_EQ(take_turns({chain(10)}, {.mode = TimeMode::graph_cold}).status().code(),
            StatusCode::invalid_argument);
}

// An input that the launch overwrites is renewed before every launch, timed or not, and never in between.
TEST(Rounds, EveryLaunchIsPrepared) {
  for (const TimeMode mode : {TimeMode::stream_hot, TimeMode::stream_cold, TimeMode::stream_cold_clean}) {
    bool fresh = false;
    int used = 0;
    const TimedLaunch consumes = {.launch =
                                      [&] {
                                        used += fresh ? 0 : 1;
                                        fresh = false;
                                        return Status();
                                      },
                                  .prepare =
                                      [&] {
                                        fresh = true;
                                        return Status();
                                      }};
    const Result<const DeviceProperties*> host = device_properties(kCpu);
    TimingOptions options{.mode = mode, .first_look = 10};
    ASSERT_TRUE(time_interleaved({kCpu, nullptr}, **host, {consumes}, options, nullptr, nullptr).ok());
    EXPECT_EQ(used, 0) << to_string(mode);
  }
}

// A burst's time is that of one of its launches, and what a launch overwrites is renewed once for the burst.
TEST(Rounds, SustainedTimesAreThoseOfOneLaunchAmongMany) {
  int launches = 0;
  int renewals = 0;
  const TimedLaunch base = chain(2000);
  const TimedLaunch counted = {.launch =
                                   [&] {
                                     ++launches;
                                     return base.launch();
                                   },
                               .prepare =
                                   [&] {
                                     ++renewals;
                                     return Status();
                                   }};
  const std::vector<TimeSeries> once = take_turns({chain(2000)}).value();
  const std::vector<TimeSeries> many =
      take_turns({counted, chain(2000)}, {.mode = TimeMode::sustained, .first_look = 20, .max_rounds = 20})
          .value();
  EXPECT_EQ(many[0].samples_us.size(), 20u);
  const double alone = quantile(once[0].samples_us, 0.5);
  // A burst has hundreds of launches: whoever forgets to divide is found, and a busy machine is not.
  EXPECT_GT(quantile(many[1].samples_us, 0.5), 0.02 * alone);
  EXPECT_LT(quantile(many[1].samples_us, 0.5), 50 * alone);
  EXPECT_GT(launches, 5 * renewals);
  EXPECT_GE(renewals, 21);
}

TEST(Rounds, ALaunchThatIsWrongAfterwardsHasNoTime) {
  int checks = 0;
  const auto check = [&checks](const std::function<Status()>& run) -> Status {
    ++checks;
    ROOFTILE_TRY(run());
    return Status::error(StatusCode::check_failed, "wrong afterwards");
  };
  const std::vector<TimeSeries> series =
      take_turns({{.launch = chain(100).launch, .check = check}, chain(100)}).value();
  EXPECT_EQ(checks, 1);
  EXPECT_EQ(series[0].status.code(), StatusCode::check_failed);
  EXPECT_TRUE(series[1].status.ok());
}

// What another process measures takes its turn in every round, while nothing of ours is on the way.
TEST(Rounds, AMeasureTakesItsTurn) {
  std::string log;
  const auto logs = [&log](char name) {
    return TimedLaunch{.launch = [&log, name] {
      log += name;
      return Status();
    }};
  };
  double us = 0;
  const TimedLaunch measured = {.launch = {}, .measure = [&](TimeMode mode) -> Result<double> {
                                  EXPECT_EQ(mode, TimeMode::stream_hot);
                                  log += 'm';
                                  return us += 1;
                                }};
  const std::vector<TimeSeries> series = take_turns({logs('a'), measured, logs('b')}).value();
  // A hot launch runs twice, and each of ours once before all rounds.
  ASSERT_EQ(log.size(), 2 + 60 * 5u);
  std::string sorted = log.substr(2);
  for (std::size_t round = 0; round < 60; ++round) {
    const auto first = sorted.begin() + static_cast<std::ptrdiff_t>(5 * round);
    std::sort(first, first + 5);
    EXPECT_EQ(std::string(first, first + 5), "aabbm") << log;
    EXPECT_EQ(series[1].samples_us[round], static_cast<double>(round + 1));
  }
  EXPECT_NE(log.substr(2), sorted);
}

TEST(Rounds, AMeasureTakesItsTurnInEveryMode) {
  for (const TimeMode mode : {TimeMode::stream_cold, TimeMode::stream_cold_clean, TimeMode::sustained}) {
    const TimedLaunch measured = {.launch = {}, .measure = [&](TimeMode asked) -> Result<double> {
                                    EXPECT_EQ(asked, mode);
                                    return 3.0;
                                  }};
    const Result<const DeviceProperties*> host = device_properties(kCpu);
    const TimingOptions options{.mode = mode, .first_look = 10, .max_rounds = 10};
    const Result<std::vector<TimeSeries>> series =
        time_interleaved({kCpu, nullptr}, **host, {chain(100), measured}, options, nullptr, nullptr);
    ASSERT_TRUE(series.ok()) << series.status();
    EXPECT_EQ((*series)[1].samples_us, std::vector<double>(10, 3.0)) << to_string(mode);
    EXPECT_EQ((*series)[0].samples_us.size(), 10u);
  }
}

TEST(Rounds, AMeasureThatFailsHasNoTimeAndIsNotAskedAgain) {
  int asked = 0;
  const TimedLaunch fails = {.launch = {}, .measure = [&asked](TimeMode) -> Result<double> {
                               if (++asked > 3) return unavailable("planted");
                               return 1.0;
                             }};
  const std::vector<TimeSeries> series = take_turns({fails, chain(100)}).value();
  EXPECT_EQ(asked, 4);
  EXPECT_TRUE(series[0].samples_us.empty());
  EXPECT_EQ(series[0].status.code(), StatusCode::unavailable);
  EXPECT_EQ(series[1].samples_us.size(), 60u);
}

TEST(PinnedThreads, EveryThreadGetsBackWhatItHad) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  {
    const PinnedThreads pinned;
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
    EXPECT_EQ(CPU_COUNT(&now), 1) << pinned.caveat();
    // Also where this is the first use of oneTBB in the process, as it is when this test runs alone.
    EXPECT_EQ(tbb::this_task_arena::max_concurrency(), CPU_COUNT(&before));
    tbb::parallel_for(0, 10000, [](int) {
      cpu_set_t own;
      ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
      EXPECT_EQ(CPU_COUNT(&own), 1);
    });
    EXPECT_EQ(pinned.caveat(), "");
  }
  tbb::parallel_for(0, 10000, [&before](int) {
    cpu_set_t own;
    ASSERT_EQ(sched_getaffinity(0, sizeof(own), &own), 0);
    EXPECT_TRUE(CPU_EQUAL(&own, &before));
  });
}

class VerdictTrialTest : public testing::Test {
 protected:
  VerdictTrialTest()
      : op_(test::make_fake("fake", {test::fake_rung("right", test::Bug::none),
                                     test::fake_rung("wrong", test::Bug::skips_tail)})) {
    registry_.add(op_);
    registry_.add(test::make_fake_cases("fake"));
    options_.device = kCpu;
    options_.runs = 10;
    options_.request.shape = {{"n", "30011"}};
    options_.timing.mode = TimeMode::stream_hot;
  }
  OperatorDescriptor op_;
  Registry registry_;
  VerdictTrialOptions options_;
};

TEST_F(VerdictTrialTest, CountsEveryComparisonOnce) {
  options_.difference = 0.5;
  const Result<VerdictTrial> result = try_verdicts(registry_, op_, options_);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->rung, "right");
  EXPECT_NEAR(result->difference, 0.5, 1e-3);
  for (const VerdictCounts* counts : {&result->same, &result->differs}) {
    EXPECT_EQ(counts->runs, 10);
    EXPECT_EQ(counts->of[0] + counts->of[1] + counts->of[2] + counts->of[3], 10);
    EXPECT_LE(counts->low, counts->high);
  }
  // The gates themselves are those of lab.verdicts, which has the machine to itself.
  EXPECT_GE(result->same.count(Verdict::same) + result->same.count(Verdict::insufficient), 7);
  EXPECT_GE(result->differs.count(Verdict::faster), 6);
}

TEST_F(VerdictTrialTest, ADifferenceThatIsTooSmallToFindFailsTheGate) {
  options_.difference = 1e-3;
  const Result<VerdictTrial> result = try_verdicts(registry_, op_, options_);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_NE(result->finding().find("A/B"), std::string::npos) << result->finding();
}

TEST_F(VerdictTrialTest, AFalseDifferenceFailsTheGate) {
  VerdictTrial c;
  c.same.runs = c.differs.runs = 200;
  c.differs.of[static_cast<std::size_t>(Verdict::faster)] = 180;
  c.same.of[static_cast<std::size_t>(Verdict::slower)] = 10;
  EXPECT_EQ(c.finding(), "");
  c.same.of[static_cast<std::size_t>(Verdict::faster)] = 1;
  EXPECT_NE(c.finding().find("A/A"), std::string::npos);
  c = {};
  EXPECT_NE(c.finding(), "");  // nothing found in no runs
}

TEST_F(VerdictTrialTest, WrongCalls) {
  options_.rung = "wrong";
  EXPECT_EQ(try_verdicts(registry_, op_, options_).status().code(), StatusCode::check_failed);
  options_.rung = "rihgt";
  EXPECT_EQ(try_verdicts(registry_, op_, options_).status().code(), StatusCode::invalid_argument);
  options_.rung = "";
  options_.request.shape = {{"n", "3"}};
  EXPECT_EQ(try_verdicts(registry_, op_, options_).status().code(), StatusCode::invalid_argument);
  options_.device = kSim;
  EXPECT_EQ(try_verdicts(registry_, op_, options_).status().code(), StatusCode::invalid_argument);
}

}  // namespace
}  // namespace rooftile::lab
