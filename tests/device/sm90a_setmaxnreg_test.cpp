#include "tests/device/sm90a_setmaxnreg_tests.h"

namespace rooftile::testing_sm90a {

INSTANTIATE_TEST_SUITE_P(Sim, Sm90aSetmaxnreg,
                         ::testing::ValuesIn(sim_targets(sim::setmaxnreg_test_kernels())),
                         target_name<SetmaxnregKernels>);

namespace {

// On the simulated SM alone: on a GPU such a kernel does what it likes.
class Sm90aSetmaxnregMisuse : public Sm90aSetmaxnreg {
 protected:
  void expect_failure(SetmaxnregMisuse misuse, const char* part) {
    const Status status = GetParam().kernels.misuse(context_->stream(), misuse);
    EXPECT_EQ(status.code(), StatusCode::device_error);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("sm90a_setmaxnreg.cu:"), std::string::npos) << status.message();
    EXPECT_TRUE(is_ok(GetParam().kernels.misuse(context_->stream(), SetmaxnregMisuse::none)));
  }
};
INSTANTIATE_TEST_SUITE_P(Sim, Sm90aSetmaxnregMisuse,
                         ::testing::ValuesIn(sim_targets(sim::setmaxnreg_test_kernels())),
                         target_name<SetmaxnregKernels>);

TEST_P(Sm90aSetmaxnregMisuse, IsNamed) {
  expect_failure(SetmaxnregMisuse::one_warp_does_not, "warp 6 has not called setmaxnreg_dec<24>");
  expect_failure(SetmaxnregMisuse::one_warp_otherwise,
                 "all four warps must make the same calls in the same order");
  expect_failure(SetmaxnregMisuse::no_warpgroup, "is in no whole warpgroup");
  expect_failure(SetmaxnregMisuse::decreases_twice, "the warpgroup has 24 registers already");
}

}  // namespace
}  // namespace rooftile::testing_sm90a
