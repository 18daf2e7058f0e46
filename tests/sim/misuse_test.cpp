// Kernels that must fail: each ends with a Status that says what and where, and the next launch works.
#include <fstream>
#include <numeric>

#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;
using std::chrono::milliseconds;

class EveryMisuse : public ::testing::TestWithParam<Schedule> {
 protected:
  void SetUp() override { use(GetParam(), milliseconds(150)); }

  // The message of a launch that must fail within its watchdog. Twice, with a good launch after each.
  static std::string message_of(Misuse misuse) {
    std::string message;
    for (int repeat = 0; repeat < 2; ++repeat) {
      unsigned flag = 0;
      const auto start = std::chrono::steady_clock::now();
      const Status status = run_misuse(kStream, misuse, &flag);
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
      EXPECT_EQ(status.code(), StatusCode::device_error) << status.message();
      message = status.message();
      expect_next_launch_works();
    }
    return message;
  }

  static void expect_next_launch_works() {
    std::vector<int> in(64);
    std::iota(in.begin(), in.end(), 1);
    int sum = 0;
    ASSERT_TRUE(is_ok(run_block_sum(kStream, true, 64, in.data(), &sum)));
    EXPECT_EQ(sum, 64 * 65 / 2);
    std::vector<int> values(128, 1);
    ASSERT_TRUE(is_ok(run_grid_sync(kStream, 4, 32, 2, values.data())));
    EXPECT_EQ(values[0], 3);
  }
};
INSTANTIATE_TEST_SUITE_P(Sim, EveryMisuse, ::testing::ValuesIn(kSchedules), schedule_name);

::testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "\"" << part << "\" is not in: " << text;
}

// "misuse_kernels.cu:LINE" of the n-th line after `label` that holds `text`.
std::string line_of(const std::string& label, const std::string& text, int n = 1) {
  const std::string here = __FILE__;
  const std::string path = here.substr(0, here.rfind('/') + 1) + "misuse_kernels.cu";
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  bool found_label = false;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    found_label = found_label || line.find("case Misuse::" + label + ":") != std::string::npos;
    if (found_label && line.find(text) != std::string::npos && --n == 0) {
      return "misuse_kernels.cu:" + std::to_string(number);
    }
  }
  ADD_FAILURE() << label << ": no line " << n << " with " << text;
  return "";
}

TEST_P(EveryMisuse, DivergentBarrier) {
  const std::string message = message_of(Misuse::divergent_barrier);
  EXPECT_TRUE(contains(message, "divergent barrier"));
  EXPECT_TRUE(contains(message, line_of("divergent_barrier", "__syncthreads", 1)));
  EXPECT_TRUE(contains(message, line_of("divergent_barrier", "__syncthreads", 2)));
  EXPECT_TRUE(contains(message, "block ("));
}

TEST_P(EveryMisuse, BarrierNotReached) {
  const std::string message = message_of(Misuse::barrier_not_reached);
  EXPECT_TRUE(contains(message, "livelock: no progress for 150 ms"));
  EXPECT_TRUE(contains(message, "32 of 64 threads wait in __syncthreads at " +
                                    line_of("barrier_not_reached", "__syncthreads")));
  EXPECT_TRUE(contains(message, "32 of 64 threads wait in ") &&
              contains(message, line_of("barrier_not_reached", "spin_hint")));
}

TEST_P(EveryMisuse, MissingLane) {
  const std::string message = message_of(Misuse::missing_lane);
  EXPECT_TRUE(contains(message, "deadlock"));
  EXPECT_TRUE(
      contains(message, "62 of 64 threads wait in __shfl_sync at " + line_of("missing_lane", "__shfl_sync")));
  EXPECT_TRUE(contains(
      message, "2 of 64 threads wait in __syncthreads at " + line_of("missing_lane", "__syncthreads")));
}

TEST_P(EveryMisuse, LaneNotInItsOwnMask) {
  const std::string message = message_of(Misuse::lane_not_in_own_mask);
  EXPECT_TRUE(contains(message, "__ballot_sync at " + line_of("lane_not_in_own_mask", "__ballot_sync")));
  EXPECT_TRUE(contains(message, "mask 0x0000ffff, which does not name that lane"));
}

TEST_P(EveryMisuse, DifferentCollectivesWithOneMask) {
  const std::string message = message_of(Misuse::different_collectives);
  EXPECT_TRUE(contains(message, "__any_sync at " + line_of("different_collectives", "__any_sync")));
  EXPECT_TRUE(contains(message, "__shfl_sync at " + line_of("different_collectives", "__shfl_sync")));
}

TEST_P(EveryMisuse, ShuffleWidth) {
  EXPECT_TRUE(contains(message_of(Misuse::shuffle_width), "must be 1, 2, 4, 8, 16 or 32, not 12"));
}

TEST_P(EveryMisuse, GridSyncNotReachedByOneBlock) {
  const std::string message = message_of(Misuse::grid_sync_not_reached);
  EXPECT_TRUE(contains(message, "deadlock"));
  EXPECT_TRUE(contains(message, line_of("grid_sync_not_reached", "sync()")));
  EXPECT_TRUE(contains(message, "block (1,0,0)"));
}

TEST_P(EveryMisuse, GridSyncNeedsACooperativeLaunch) {
  EXPECT_TRUE(contains(message_of(Misuse::grid_sync_not_cooperative), "needs a cooperative launch"));
}

TEST_P(EveryMisuse, GridSyncAfterAThreadHasReturned) {
  const std::string message = message_of(Misuse::grid_sync_after_exit);
  EXPECT_TRUE(contains(message, "block (1,0,0): deadlock"));
  EXPECT_TRUE(contains(message, "63 of 64 threads wait in grid.sync()"));
  EXPECT_TRUE(contains(message, "1 have returned"));
}

TEST_P(EveryMisuse, FlagThatNobodySets) {
  const std::string message = message_of(Misuse::flag_never_set);
  EXPECT_TRUE(contains(message, "livelock"));
  EXPECT_TRUE(
      contains(message, "64 of 64 threads wait in ld_acquire at " + line_of("flag_never_set", "ld_acquire")));
}

TEST_P(EveryMisuse, FlagThatNobodySetsPolledByAtomics) {
  const std::string message = message_of(Misuse::flag_never_set_cas);
  EXPECT_TRUE(contains(message, "livelock"));
  EXPECT_TRUE(contains(message, "atomicCAS at " + line_of("flag_never_set_cas", "atomicCAS")));
}

TEST_P(EveryMisuse, PollingBetweenBarriersIsNoProgress) {
  EXPECT_TRUE(contains(message_of(Misuse::polls_between_barriers), "livelock"));
}

TEST_P(EveryMisuse, WorkBetweenBarriersEndsByTheTimeLimit) {
  simt::ExecutorConfig config = simt::executor_config().value();
  config.time_limit = milliseconds(200);
  ASSERT_TRUE(is_ok(simt::set_executor_config(config)));
  const std::string message = message_of(Misuse::works_between_barriers);
  EXPECT_TRUE(contains(message, "livelock: after 200 ms"));
  EXPECT_TRUE(contains(message, line_of("works_between_barriers", "__syncthreads_or")));
}

// They call nothing of the executor.
TEST_P(EveryMisuse, SpinsThatLetNobodyElseRunAreEnded) {
#if defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
  GTEST_SKIP() << "no guard takes a thread out of its loop here";
#else
  for (const Misuse misuse : {Misuse::spins_on_volatile, Misuse::endless_loop}) {
    const std::string message = message_of(misuse);
    EXPECT_TRUE(contains(message, "livelock"));
    EXPECT_TRUE(contains(message, "misuse_kernel(rooftile::sim::"));
  }
  EXPECT_TRUE(contains(message_of(Misuse::trap), "__trap()"));  // the next launch is a launch like any other
#endif
}

TEST_P(EveryMisuse, Assertion) {
  const std::string message = message_of(Misuse::assertion);
  EXPECT_TRUE(contains(message, "thread (40,0,0): assertion `t != 40"));
  EXPECT_TRUE(contains(message, line_of("assertion", "assert(")));
}

TEST_P(EveryMisuse, Trap) {
  const std::string message = message_of(Misuse::trap);
  EXPECT_TRUE(contains(message, "thread (3,0,0): __trap() at " + line_of("trap", "__trap()")));
}

TEST(Waiting, ForALaterBlockNeedsAnotherWorker) {
  unsigned flag = 0;
  use({"", simt::LaneOrder::forward, 0, 1}, milliseconds(150));
  const Status status = run_misuse(kStream, Misuse::waits_for_later_block, &flag);
  EXPECT_TRUE(mentions(status, "livelock"));
  EXPECT_TRUE(mentions(status, "block (0,0,0)"));
}

TEST(Failures, OfSeveralBlocksTheFirstIsReportedWithOneWorker) {
  use({"", simt::LaneOrder::forward, 0, 1}, milliseconds(150));
  unsigned flag = 0;
  EXPECT_TRUE(mentions(run_misuse(kStream, Misuse::trap, &flag), "block (0,0,0)"));
}

}  // namespace
}  // namespace rooftile::sim_testing
