// Verdicts of pairs: on launches whose difference is known, and what a trial of verdicts reports.
#include "rooftile/lab/time/head_to_head.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cstdint>

#include "rooftile/lab/ladder/verdict_trial.h"
#include "rooftile/lab/time/pinned_threads.h"
#include "tests/lab/fake_operator.h"

namespace rooftile::lab {
namespace {

// A chain of dependent additions: its time is its length.
TimedLaunch chain(std::int64_t length) {
  return {[length] {
    volatile std::int64_t sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum = sum + i;
    return Status();
  }};
}

Result<Duel> duel(const TimedLaunch& a, const TimedLaunch& b, DuelOptions options = {}) {
  const Result<const DeviceProperties*> host = device_properties(kCpu);
  EXPECT_TRUE(host.ok());
  if (options.mode == TimeMode::stream_cold) options.mode = TimeMode::stream_hot;
  return compare_launches({kCpu, nullptr}, **host, a, b, options);
}

TEST(HeadToHead, FindsWhichOfTwoIsFaster) {
  const Result<Duel> faster = duel(chain(30000), chain(36000));
  ASSERT_TRUE(faster.ok()) << faster.status().message();
  EXPECT_EQ(faster->verdict, Verdict::faster);
  EXPECT_NEAR(faster->ratio.median, 1.2, 0.1);
  EXPECT_GE(faster->quads, 60);
  EXPECT_EQ(faster->a.n, 2 * faster->quads);
  const Result<Duel> slower = duel(chain(36000), chain(30000));
  ASSERT_TRUE(slower.ok());
  EXPECT_EQ(slower->verdict, Verdict::slower);
}

// A launch that is slower where it comes first of four: a place in the quad, not a difference of the sides.
TEST(HeadToHead, AFavouredPlaceIsNoDifference) {
  int runs = -2;  // each side runs once before it is timed
  const TimedLaunch disturbed = {[&runs]() -> Status {
    const int place = runs < 0 ? 0 : runs / 2 % 4;  // hot: each timed launch follows an untimed one
    ++runs;
    return chain(place == 0 ? 40000 : 30000).launch();
  }};
  const Result<Duel> result = duel(disturbed, disturbed);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->verdict, Verdict::same) << to_string(result->verdict) << " " << result->ratio.median;
}

TEST(HeadToHead, ALaunchThatFailsIsAnErrorAndNoTime) {
  int runs = 0;
  const TimedLaunch fails_later = {[&runs]() -> Status {
    if (++runs > 10) return Status::error(StatusCode::device_error, "planted");
    return {};
  }};
  const Result<Duel> result = duel(chain(1000), fails_later);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("planted"), std::string::npos);
}

TEST(HeadToHead, ABudgetThatIsSpentSaysInsufficient) {
  const Result<Duel> result = duel(chain(1000), chain(1000), {.budget_s = 1e-9});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->quads, 1);
  EXPECT_EQ(result->verdict, Verdict::insufficient);
}

TEST(HeadToHead, GraphsNeedAGpu) {
  const Result<Duel> result = duel(chain(10), chain(10), {.mode = TimeMode::graph_cold});
  EXPECT_EQ(result.status().code(), StatusCode::invalid_argument);
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
    options_.duel.mode = TimeMode::stream_hot;
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
  EXPECT_EQ(result->same.count(Verdict::same) + result->same.count(Verdict::insufficient), 10);
  EXPECT_GE(result->differs.count(Verdict::faster), 9);
  EXPECT_EQ(result->finding(), "");
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
