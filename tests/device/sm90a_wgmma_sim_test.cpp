// The simulated SM's own promises about wgmma: it happens as late as is legal, and a misuse ends the launch with a line
// that says what and where.
#include <algorithm>
#include <chrono>
#include <iterator>

#include "rooftile/sim/config.h"
#include "tests/device/sm90a_testing.h"
#include "tests/device/sm90a_wgmma_misuse.h"

namespace rooftile::testing_sm90a {
namespace {

class Sm90aWgmmaMisuse : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    simt::ExecutorConfig config;
    config.watchdog = std::chrono::milliseconds(150);
    ASSERT_TRUE(is_ok(simt::parse_lane_order(GetParam(), config)));
    ASSERT_TRUE(is_ok(simt::set_executor_config(config)));
  }
  [[nodiscard]] Status run(WgmmaMisuse misuse) {
    std::fill(std::begin(out_), std::end(out_), -1.0f);
    return sim::run_wgmma_misuse({kSim, nullptr}, misuse, out_);
  }
  void expect_sums(WgmmaMisuse misuse, float sum) {
    ASSERT_TRUE(is_ok(run(misuse)));
    for (const float value : out_) EXPECT_EQ(value, sum);
  }
  // The launch fails with all of these in its message, and the next one works.
  void expect_failure(WgmmaMisuse misuse, const std::vector<std::string>& parts) {
    const Status status = run(misuse);
    ASSERT_EQ(status.code(), StatusCode::device_error) << status.message();
    for (const std::string& part : parts) {
      EXPECT_NE(status.message().find(part), std::string::npos)
          << part << "\nis not in: " << status.message();
    }
    EXPECT_NE(status.message().find("sm90a_wgmma_misuse.cu:"), std::string::npos) << status.message();
    expect_sums(WgmmaMisuse::none, 37);
  }

  float out_[kWgmmaMisuseThreads];
};
INSTANTIATE_TEST_SUITE_P(Sim, Sm90aWgmmaMisuse, ::testing::Values("forward", "reversed", "random:3"),
                         [](const auto& order) { return order.param.substr(0, order.param.find(':')); });

TEST_P(Sm90aWgmmaMisuse, WithItsWaitsTheSumIsRight) { expect_sums(WgmmaMisuse::none, 5 + 16 + 16); }
TEST_P(Sm90aWgmmaMisuse, ASumReadBeforeItsWaitIsTheOldOne) { expect_sums(WgmmaMisuse::read_before_wait, 5); }
TEST_P(Sm90aWgmmaMisuse, AWaitBringsAllGroupsButTheNewest) {
  expect_sums(WgmmaMisuse::newest_group_read, 5 + 16);
}
TEST_P(Sm90aWgmmaMisuse, AnOperandOverwrittenBeforeItsWaitIsWhatIsMultiplied) {
  expect_sums(WgmmaMisuse::operand_overwritten, 5 + 16 * 4 + 16 * 2);
}
TEST_P(Sm90aWgmmaMisuse, AFragmentIsTakenWithTheCall) {
  expect_sums(WgmmaMisuse::fragment_overwritten, 5 + 16 + 16);
}

TEST_P(Sm90aWgmmaMisuse, ABlockThatReturnsTooEarlyIsNamed) {
  expect_failure(WgmmaMisuse::never_committed, {"the block returned before the product was complete"});
  expect_failure(WgmmaMisuse::never_waited, {"the block returned before the product was complete"});
}
TEST_P(Sm90aWgmmaMisuse, AllWarpsMakeTheSameCalls) {
  expect_failure(WgmmaMisuse::one_warp_does_not_commit, {"warp", "commits another number of products"});
  expect_failure(WgmmaMisuse::one_warp_multiplies_otherwise,
                 {"warp", "multiplies otherwise than its warpgroup"});
}
TEST_P(Sm90aWgmmaMisuse, WhatCannotBeMultipliedIsNamed) {
  expect_failure(WgmmaMisuse::no_warpgroup, {"is in no whole warpgroup", "the block has 96 threads"});
  expect_failure(WgmmaMisuse::misaligned_tile,
                 {"a matrix descriptor: the shared-memory address must be aligned to 512 bytes"});
  expect_failure(WgmmaMisuse::distance_of_8_bytes, {"multiples of 16 bytes and less than 2^18, not 8"});
  expect_failure(WgmmaMisuse::operand_outside, {"wgmma's", "are not in the block's shared memory"});
}

}  // namespace
}  // namespace rooftile::testing_sm90a
