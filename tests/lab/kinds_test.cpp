// One small operator of every kind that the lab judges, on CPU and simulated SM.
#include <gtest/gtest.h>

#include "tests/lab/kinds/expect_judged.h"

namespace rooftile::lab::test {
namespace {

class Kinds : public testing::TestWithParam<std::tuple<std::size_t, Device>> {};

TEST_P(Kinds, RightRungsPassAndWrongOnesFail) {
  const auto [which, device] = GetParam();
  expect_judged(all_kinds()[which], device);
}

INSTANTIATE_TEST_SUITE_P(Lab, Kinds,
                         testing::Combine(testing::Range<std::size_t>(0, all_kinds().size()),
                                          testing::Values(kCpu, kSim)),
                         [](const auto& test) {
                           return all_kinds()[std::get<0>(test.param)].op->name + "_" +
                                  to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace rooftile::lab::test
