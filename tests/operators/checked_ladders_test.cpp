// No false report: every rung of every operator, on its quick cases, in every lane order. A sample of the cases that
// is another one in each order; all of them in Long.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "rooftile/lab/simulate/simulation.h"
#include "tests/checked/checked_test.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

using checked_testing::describe;
using checked_testing::is_ok;

constexpr std::size_t kSampledCases = 24;

class Ladders : public OperatorOrderTest {
 protected:
  static bool takes_all() {
    const char* suite = ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name();
    return std::string_view(suite).starts_with("Long/");
  }

  // The rungs that ran.
  int check_case(const Case& c) {
    Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
    if (!host.ok()) return fail(c, host.status().message());
    Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kSim);
    if (!problem.ok()) return fail(c, problem.status().message());
    int ran = 0;
    for (const lab::Candidate& candidate :
         lab::candidates(*op_, {}, {}, problem->args(), problem->properties())) {
      if (!candidate.unsupported.empty()) continue;
      const Result<lab::WatchedRun> run = lab::watch_candidate(candidate, *problem, {});
      if (run.status().code() == StatusCode::unsupported) {  // a dtype that the checked build leaves out
        ++left_out_[candidate.id + ": " + run.status().rule()];
        continue;
      }
      if (!run.ok()) return fail(c, candidate.id + ": " + run.status().message());
      EXPECT_EQ(run->wrong, "") << candidate.id << " on " << case_id(c);
      EXPECT_EQ(describe(run->report), "") << candidate.id << " on " << case_id(c);
      ran_.insert(candidate.id);
      ++ran;
    }
    return ran;
  }

  static int fail(const Case& c, const std::string& why) {
    ADD_FAILURE() << case_id(c) << ": " << why;
    return 0;
  }

  std::set<std::string> ran_;            // rungs
  std::map<std::string, int> left_out_;  // runs by rung and reason
};
INSTANTIATE_TEST_SUITE_P(Forward, Ladders, every_operator_in(simt::LaneOrder::forward),
                         ordered_operator_name);
INSTANTIATE_TEST_SUITE_P(Reversed, Ladders, every_operator_in(simt::LaneOrder::reversed),
                         ordered_operator_name);
INSTANTIATE_TEST_SUITE_P(Random, Ladders, every_operator_in(simt::LaneOrder::random), ordered_operator_name);
INSTANTIATE_TEST_SUITE_P(Long, Ladders, every_operator_in(simt::LaneOrder::forward), ordered_operator_name);

TEST_P(Ladders, HaveNoMistakes) {
  std::vector<Case> quick = cases_->cases();
  std::erase_if(quick, [](const Case& c) { return c.tier != CaseTier::quick; });
  const std::size_t step = takes_all() ? 1 : std::max<std::size_t>(1, quick.size() / kSampledCases);
  int ran = 0;
  for (std::size_t i = static_cast<std::size_t>(order()) % step; i < quick.size(); i += step) {
    ran += check_case(quick[i]);
    if (HasFailure()) return;  // one case tells enough
  }
  EXPECT_GT(ran, 0);
  for (const auto& [what, count] : left_out_) std::printf("left out %d runs of %s\n", count, what.c_str());
  if (!takes_all()) return;
  for (const RungRow& rung : op_->rungs) {
    if (rung.kind != RungKind::gpu || !rung.wrong_on_purpose.empty()) continue;
    EXPECT_TRUE(ran_.contains(rung.id)) << rung.id << " ran on no case";
  }
}

// Each rung keeps the access pattern that its row promises. The counts do not depend on the order: Long sees that.
class Expectations : public OperatorOrderTest {};
INSTANTIATE_TEST_SUITE_P(Forward, Expectations, every_operator_in(simt::LaneOrder::forward),
                         ordered_operator_name);
INSTANTIATE_TEST_SUITE_P(Long, Expectations, every_operator_in(simt::LaneOrder::reversed),
                         ordered_operator_name);

TEST_P(Expectations, AreKept) {
  for (const RungRow& rung : op_->rungs) {
    if (rung.kind != RungKind::gpu) continue;
    EXPECT_FALSE(rung.expects.empty()) << rung.id << " promises no access pattern";
    const Result<lab::Simulation> simulation = lab::simulate(registry(), *op_, rung.id, {});
    ASSERT_TRUE(is_ok(simulation.status())) << rung.id;
    EXPECT_EQ(simulation->broken, std::vector<std::string>()) << rung.id;
  }
}

}  // namespace
}  // namespace rooftile::operators_testing
