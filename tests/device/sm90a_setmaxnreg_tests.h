// setmaxnreg in a kernel that hands values over. Included by one test program per target.
#pragma once

#include <optional>

#include "tests/device/sm90a_setmaxnreg.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

class Sm90aSetmaxnreg : public ::testing::TestWithParam<Target<SetmaxnregKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }
  std::optional<Context> context_;
};

TEST_P(Sm90aSetmaxnreg, WarpgroupsGoOnWithOtherNumbers) {
  std::vector<std::uint32_t> in(256);
  for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = i * i + 7;
  const DeviceArray<std::uint32_t> g_in(*context_, in);
  const DeviceArray<std::uint32_t> g_out(*context_, std::vector<std::uint32_t>(256));
  ASSERT_TRUE(is_ok(GetParam().kernels.hand_over(context_->stream(), g_in.data(), g_out.data())));
  const std::vector<std::uint32_t> out = g_out.read();
  for (std::uint32_t t = 0; t < out.size(); ++t) {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 128; ++i) sum += i * in[(i + t + 128) % 256];
    EXPECT_EQ(out[t], sum) << t;
  }
}

}  // namespace rooftile::testing_sm90a
