// No false report: every rung of every operator, on its quick cases, in every lane order.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <set>
#include <string>

#include "rooftile/core/registry.h"
#include "rooftile/lab/simulate/simulation.h"
#include "tests/checked/checked_test.h"

namespace rooftile::checked_testing {
namespace {

class Ladders : public ::testing::TestWithParam<simt::LaneOrder> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 5})));
    register_all_operators(registry_);
    register_all_lessons(registry_);
    register_all_cases(registry_);
  }
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }

  // The rungs that ran.
  int check_case(const OperatorDescriptor& op, const OperatorCases& cases, const Case& c) {
    Result<lab::HostProblem> host = lab::HostProblem::create(op, cases, c);
    if (!host.ok()) return fail(op, c, host.status().message());
    Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kSim);
    if (!problem.ok()) return fail(op, c, problem.status().message());
    int ran = 0;
    for (const lab::Candidate& candidate :
         lab::candidates(op, {}, {}, problem->args(), problem->properties())) {
      if (!candidate.unsupported.empty()) continue;
      const Result<lab::WatchedRun> run = lab::watch_candidate(candidate, *problem, {});
      if (run.status().code() == StatusCode::unsupported) {  // a dtype that the checked build leaves out
        ++left_out_[fmt::format("{}/{}: {}", op.name, candidate.id, run.status().rule())];
        continue;
      }
      ran_.insert(op.name + "/" + candidate.id);
      if (!run.ok()) return fail(op, c, candidate.id + ": " + run.status().message());
      EXPECT_EQ(run->wrong, "") << candidate.id << " on " << case_id(c);
      EXPECT_EQ(describe(run->report), "") << candidate.id << " on " << case_id(c);
      ++ran;
    }
    return ran;
  }

  static int fail(const OperatorDescriptor& op, const Case& c, const std::string& why) {
    ADD_FAILURE() << op.name << "[" << case_id(c) << "]: " << why;
    return 0;
  }

  Registry registry_;
  std::set<std::string> ran_;            // rungs
  std::map<std::string, int> left_out_;  // runs by rung and reason
};

TEST_P(Ladders, HaveNoMistakes) {
  for (const OperatorDescriptor* op : registry_.operators()) {
    const OperatorCases* cases = registry_.cases(op->name);
    ASSERT_NE(cases, nullptr) << op->name;
    int ran = 0;
    // Forward runs them all; the other orders every fifth, for the sake of the CI's time.
    const std::size_t step = GetParam() == simt::LaneOrder::forward ? 1 : 5;
    const std::vector<Case> list = cases->cases();
    for (std::size_t i = 0; i < list.size(); i += step) {
      if (list[i].tier == CaseTier::quick) ran += check_case(*op, *cases, list[i]);
      if (HasFailure()) return;  // one case tells enough
    }
    EXPECT_GT(ran, 0) << op->name;
    for (const RungRow& rung : op->rungs) {
      if (rung.kind != RungKind::gpu || !rung.wrong_on_purpose.empty()) continue;
      EXPECT_TRUE(ran_.contains(op->name + "/" + rung.id)) << rung.id << " ran on no case";
    }
  }
  for (const auto& [what, count] : left_out_) std::printf("left out %d runs of %s\n", count, what.c_str());
}

// Each rung keeps the access pattern that its row promises.
TEST_P(Ladders, KeepTheirExpectations) {
  if (GetParam() == simt::LaneOrder::random)
    GTEST_SKIP() << "the counts do not depend on the order: two tell enough";
  for (const OperatorDescriptor* op : registry_.operators()) {
    for (const RungRow& rung : op->rungs) {
      if (rung.kind != RungKind::gpu) continue;
      EXPECT_FALSE(rung.expects.empty()) << op->name << "/" << rung.id << " promises no access pattern";
      const Result<lab::Simulation> simulation = lab::simulate(registry_, *op, rung.id, {});
      ASSERT_TRUE(is_ok(simulation.status())) << rung.id;
      EXPECT_EQ(simulation->broken, std::vector<std::string>()) << op->name << "/" << rung.id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Ladders,
                         ::testing::Values(simt::LaneOrder::forward, simt::LaneOrder::reversed,
                                           simt::LaneOrder::random));

}  // namespace
}  // namespace rooftile::checked_testing
