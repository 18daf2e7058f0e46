// What the checks cost: CPU time of every rung's checked launch, without counting, against the plain one.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <set>

#include "rooftile/core/registry.h"
#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/problem.h"
#include "tests/checked/checked_test.h"

namespace rooftile::checked_testing {
namespace {

constexpr double kMostTimes = 10;  // of an operator's rungs together
constexpr double kMostBytes = 5 << 20;
constexpr int kRepetitions = 3;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The fastest of some launches.
double seconds_of(const std::function<Status()>& launch) {
  double best = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = cpu_seconds();
    EXPECT_TRUE(is_ok(launch()));
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

std::vector<Buffer> buffers_of(const lab::DeviceProblem& problem, const lab::Scratch& scratch) {
  std::vector<Buffer> buffers;
  for (const auto& in : problem.inputs()) buffers.push_back({"in", in.data(), in.bytes(), true, true});
  for (const auto& out : problem.outputs()) buffers.push_back({"out", out.data(), out.bytes(), false});
  buffers.push_back({"the workspace", scratch.any.data(), scratch.any.bytes(), false});
  buffers.push_back({"the zeroed workspace", scratch.zeroed.data(), scratch.zeroed.bytes(), true});
  buffers.push_back({"the error word", scratch.error_word.data(), scratch.error_word.bytes(), true});
  return buffers;
}

struct Seconds {
  double plain = 0;
  double checked = 0;
};

Seconds seconds_of_both(const lab::Candidate& candidate, lab::DeviceProblem& problem) {
  const Result<lab::Scratch> scratch = problem.make_scratch(candidate.plan.workspace);
  EXPECT_TRUE(is_ok(scratch.status()));
  const auto launch = [&](const LaunchFn& function) {
    return function(problem.call(candidate.plan, scratch->workspace()));
  };
  Seconds cost;
  cost.plain = seconds_of([&] { return launch(candidate.launch); });
  cost.checked = seconds_of([&] {
    Status status;
    const Report report = watch(
        {}, buffers_of(problem, *scratch), [&] { return launch(candidate.checked); }, &status);
    EXPECT_EQ(describe(report), "");
    return status;
  });
  return cost;
}

class Cost : public ::testing::Test {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

TEST_F(Cost, ChecksAreAtMostTenTimesSlower) {
  // One OS thread: the CPU time is all of it, whatever else the machine does.
  ASSERT_TRUE(is_ok(simt::set_executor_config({.workers = 1})));
  Registry registry;
  register_all_operators(registry);
  register_all_lessons(registry);
  register_all_cases(registry);
  // Others have rungs of single accesses, where the plain build spends next to nothing.
  for (const std::string name : {"reduce", "transpose"}) {
    const OperatorDescriptor* op = registry.find(name);
    ASSERT_NE(op, nullptr);
    const OperatorCases* cases = registry.cases(name);
    std::set<std::string> done;
    Seconds sum;
    std::vector<Case> list = cases->cases();
    const auto bytes = [&](const Case& c) {
      const Result<CasePlan> plan = cases->plan(c);
      return plan.ok() ? plan->read_bytes + plan->write_bytes : 0.0;
    };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Case& a, const Case& b) { return bytes(a) > bytes(b); });
    for (const Case& c : list) {
      if (c.dtype != cases->default_host_case.dtype || c.tier != CaseTier::quick || bytes(c) > kMostBytes ||
          bytes(c) == 0) {
        continue;
      }
      Result<lab::HostProblem> host = lab::HostProblem::create(*op, *cases, c);
      ASSERT_TRUE(is_ok(host.status()));
      Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kSim);
      ASSERT_TRUE(is_ok(problem.status()));
      for (const lab::Candidate& candidate :
           lab::candidates(*op, {}, {}, problem->args(), problem->properties())) {
        if (!candidate.unsupported.empty() || !done.insert(candidate.id).second) continue;
        const Seconds cost = seconds_of_both(candidate, *problem);
        sum.plain += cost.plain;
        sum.checked += cost.checked;
      }
    }
    std::printf("%s\n", fmt::format("checks of {}: {:.1f} times the plain simulated SM", op->name,
                                    sum.checked / sum.plain)
                            .c_str());
    EXPECT_FALSE(done.empty()) << op->name;
    EXPECT_LE(sum.checked, kMostTimes * sum.plain) << op->name;
  }
}

}  // namespace
}  // namespace rooftile::checked_testing
