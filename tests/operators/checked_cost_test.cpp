// What the checks cost: CPU time of every rung's checked launch, without counting, against the plain one.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "rooftile/lab/case/candidate.h"
#include "rooftile/lab/case/problem.h"
#include "tests/checked/checked_test.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

using checked_testing::Buffer;
using checked_testing::describe;
using checked_testing::is_ok;
using checked_testing::Report;
using checked_testing::watch;

// Of an operator's rungs together. Where next to nothing but accesses of shared memory is done, sorts and additions to
// counters, there is nothing else that the plain build takes time for.
constexpr double kMostTimes = 10;
constexpr double kMostTimesOfSharedMemory = 20;
double most_times(const std::string& op) {
  return op == "topk" || op == "histogram" ? kMostTimesOfSharedMemory : kMostTimes;
}
constexpr double kMostBytes = 5 << 20;
constexpr int kLeastRepetitions = 3;
constexpr double kLeastMeasured = 20e-3;  // s: what takes less is launched more often

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The fastest of some launches.
double seconds_of(const std::function<Status()>& launch) {
  double best = 1e9;
  double all = 0;
  for (int i = 0; i < kLeastRepetitions || all < kLeastMeasured; ++i) {
    const double start = cpu_seconds();
    EXPECT_TRUE(is_ok(launch()));
    const double seconds = cpu_seconds() - start;
    best = std::min(best, seconds);
    all += seconds;
  }
  return best;
}

std::vector<Buffer> buffers_of(const lab::DeviceProblem& problem, const lab::Scratch& scratch) {
  std::vector<Buffer> buffers;
  for (const lab::DeviceTensor& tensor : problem.tensors()) {
    const bool is_input = tensor.input.has_value();
    buffers.push_back({tensor.slot->name, tensor.buffer.data(), tensor.buffer.bytes(), is_input,
                       is_input && !tensor.overwritten});
  }
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

// The library's operators: lessons have rungs of single accesses, where the plain build spends next to nothing.
std::vector<std::string> library_operators() {
  Registry library;
  register_all_operators(library);
  std::vector<std::string> names;
  for (const OperatorDescriptor* op : library.operators()) names.push_back(op->name);
  return names;
}

class Cost : public OperatorTest {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }

  double bytes(const Case& c) const {
    const Result<CasePlan> plan = cases_->plan(c);
    return plan.ok() ? plan->read_bytes + plan->write_bytes : 0.0;
  }

  // Cases that fit, the largest first.
  std::vector<Case> fitting_cases() const {
    std::vector<Case> list;
    for (Case& c : cases_->cases()) {
      const bool fits = bytes(c) > 0 && bytes(c) <= kMostBytes;
      if (c.dtype == cases_->default_host_case.dtype && c.tier == CaseTier::quick && fits) {
        list.push_back(std::move(c));
      }
    }
    std::stable_sort(list.begin(), list.end(),
                     [&](const Case& a, const Case& b) { return bytes(a) > bytes(b); });
    return list;
  }

  // Each rung on the largest case that it serves.
  void measure(std::map<std::string, Seconds>& fastest) const {
    std::set<std::string> done;
    for (const Case& c : fitting_cases()) {
      Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
      ASSERT_TRUE(is_ok(host.status()));
      Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kSim);
      ASSERT_TRUE(is_ok(problem.status()));
      for (const lab::Candidate& candidate :
           lab::candidates(*op_, {}, {}, problem->args(), problem->properties())) {
        if (!candidate.unsupported.empty() || !done.insert(candidate.id).second) continue;
        const Seconds cost = seconds_of_both(candidate, *problem);
        Seconds& best = fastest.try_emplace(candidate.id, cost).first->second;
        best = {std::min(best.plain, cost.plain), std::min(best.checked, cost.checked)};
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Long, Cost, ::testing::ValuesIn(library_operators()), operator_name);
// An operator set without one of the library's has nothing to measure here.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Cost);

TEST_P(Cost, OfChecksIsAFewTimesThePlainRun) {
  // One OS thread: the CPU time is all of it, but for what the machine takes from it for others. That comes and goes, and makes
  // nothing faster: the fastest launches of several rounds tell.
  constexpr int kMostRounds = 6;
  constexpr double kLeastSeconds = 1e-3;
  ASSERT_TRUE(is_ok(simt::set_executor_config({.workers = 1})));
  std::map<std::string, Seconds> fastest;  // by rung
  Seconds sum;
  for (int round = 0; round < kMostRounds; ++round) {
    ASSERT_NO_FATAL_FAILURE(measure(fastest));
    sum = {};
    for (const auto& [id, cost] : fastest) {
      sum.plain += cost.plain;
      sum.checked += cost.checked;
    }
    if (sum.checked <= most_times(op_->name) * sum.plain) break;
  }
  fmt::print("checks of {}: {:.1f} times the plain simulated SM\n", op_->name, sum.checked / sum.plain);
  EXPECT_FALSE(fastest.empty());
  // Of less than that the start of a watched launch is a large part, and the clock's steps are, too.
  if (sum.plain < kLeastSeconds) GTEST_SKIP() << "its small cases take less than a millisecond in all";
  EXPECT_LE(sum.checked, most_times(op_->name) * sum.plain);
}

}  // namespace
}  // namespace rooftile::operators_testing
