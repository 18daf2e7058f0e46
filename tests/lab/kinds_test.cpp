// One small operator of every kind that the lab judges, on CPU and simulated SM.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/lab/kinds/expect_judged.h"

namespace rooftile::lab::test {
namespace {

class Kinds : public testing::TestWithParam<std::tuple<std::size_t, Device>> {};

TEST_P(Kinds, RightRungsPassAndWrongOnesFail) {
  const auto [which, device] = GetParam();
  expect_judged(all_kinds()[which], device);
}

// What a timed launch finds is what was drawn, and not what a launch before it made of that.
TEST(Renewal, BringsBackWhatWasDrawn) {
  const Kind kind = update_kind();
  HostProblem host = HostProblem::create(*kind.op, kind.cases, kind.cases.default_case).value();
  DeviceProblem problem = DeviceProblem::create(host, kCpu).value();
  const RungRow& rung = *kind.op->find_rung("right_cpu");
  const RungPlan plan;
  const Scratch scratch = problem.make_scratch({}).value();
  const HostTensor& drawn = (*host.inputs().value())[0];
  const auto table_is_drawn = [&] {
    return std::memcmp(problem.tensors()[0].data, drawn.data(), drawn.bytes()) == 0;
  };
  ASSERT_TRUE(rung.launch.cpu(problem.call(plan, scratch.workspace())).ok());
  ASSERT_FALSE(table_is_drawn());
  const std::function<Status()> renew = problem.make_renewal().value();
  ASSERT_TRUE(static_cast<bool>(renew));
  EXPECT_TRUE(table_is_drawn());
  ASSERT_TRUE(rung.launch.cpu(problem.call(plan, scratch.workspace())).ok());
  ASSERT_TRUE(renew().ok());
  EXPECT_TRUE(table_is_drawn());
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
