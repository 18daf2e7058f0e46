// The mutation test: every barrier, __syncwarp, fence, acquire, release and wait for copies of every rung is
// left out at run time, one at a time; each mutant must be reported. Equivalent mutants stand in
// equivalent_mutants.txt, each with its proof.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "rooftile/lab/simulate/simulation.h"
#include "rooftile/sim/checked/source_lines.h"
#include "tests/checked/checked_test.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

using checked_testing::describe;
using checked_testing::is_ok;
using simt::checked::LineSyncs;
using simt::checked::SourceLine;

// "OP/RUNG: the statement's text" of one operator, from lines of the form `OP/RUNG | statement | proof`.
std::set<std::string> equivalent_mutants(const std::string& op) {
  std::set<std::string> mutants;
  for (unsigned line = 1;; ++line) {
    const std::string text = simt::checked::source_text({"tests/operators/equivalent_mutants.txt", line});
    if (text.empty()) return mutants;
    const std::size_t first = text.find(" | ");
    const std::size_t second = text.find(" | ", first + 1);
    if (!text.starts_with(op + "/") || second == std::string::npos) continue;
    mutants.insert(text.substr(0, first) + ": " + text.substr(first + 3, second - first - 3));
  }
}

// All that is written in the files of a folder; nothing where there is none.
std::string texts_below(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::string text;
  if (!fs::exists(folder)) return text;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path());
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

// Whether a mutant may be expected at all: not every operator's kernels, or those of the families that it includes, wait for
// anything.
bool kernels_have_barriers(const std::string& op) {
  const std::filesystem::path root = std::filesystem::path(ROOFTILE_SOURCE_DIR) / "rooftile";
  std::string text = texts_below(root / "ops" / op) + texts_below(root / "lessons" / op);
  for (const auto& family : std::filesystem::directory_iterator(root / "families")) {
    if (text.find("rooftile/families/" + family.path().filename().string() + "/") != std::string::npos)
      text += texts_below(family.path());
  }
  return text.find("__sync") != std::string::npos;
}

// Most mutants are reported on a few tiles; for the others a ring of copies must come round.
constexpr double kFewBytes = 1 << 19;
constexpr double kMostBytes = 1 << 23;

// Cases of more than `least` and at most `most` bytes: of the default dtype, the largest first; then those of others, of which
// rungs that none of the default dtype reached run the first that they serve.
std::vector<Case> small_cases(const OperatorCases& cases, double least, double most) {
  const auto is_other = [&](const Case& c) { return c.dtype != cases.default_host_case.dtype; };
  std::vector<std::pair<double, Case>> small;
  for (Case& c : cases.cases()) {
    if (c.tier != CaseTier::quick || c.offset != 0 || c.fill != Fill::uniform) continue;
    const Result<CasePlan> plan = cases.plan(c);
    if (!plan.ok()) continue;
    const double bytes = plan->read_bytes + plan->write_bytes;
    if (bytes > least && bytes <= most) small.emplace_back(bytes, std::move(c));
  }
  std::stable_sort(small.begin(), small.end(), [&](const auto& a, const auto& b) {
    return is_other(a.second) != is_other(b.second) ? is_other(b.second) : a.first > b.first;
  });
  std::vector<Case> sorted;
  for (auto& [bytes, c] : small) sorted.push_back(std::move(c));
  return sorted;
}

// Cases with the same parameters and rank look alike to the rungs that serve them.
std::string kind_of(const Case& c) {
  std::string kind;
  for (const auto& [name, extent] : c.shape) kind += name + ",";
  for (const auto& [name, value] : c.params.values()) kind += to_string(value) + ",";
  return kind;
}

class Mutants : public OperatorTest {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }

  static bool is_reported(const lab::Candidate& candidate, lab::DeviceProblem& problem,
                          const SourceLine& site) {
    for (const simt::LaneOrder order : {simt::LaneOrder::forward, simt::LaneOrder::reversed}) {
      // A mutant may wait for ever.
      EXPECT_TRUE(is_ok(simt::set_executor_config({.order = order,
                                                   .watchdog = std::chrono::milliseconds(300),
                                                   .time_limit = std::chrono::seconds(5)})));
      const Result<lab::WatchedRun> run = lab::watch_candidate(candidate, problem, {.disabled = {site}});
      EXPECT_TRUE(is_ok(run.status()));
      // A wrong result alone is no report, but of barriers that carry a value: __syncthreads_or and its like.
      const bool carries_value = simt::checked::source_text(site).find("__syncthreads_") != std::string::npos;
      if (run.ok() && (!run->report.findings.empty() || (carries_value && !run->wrong.empty()))) return true;
    }
    return false;
  }

  // Runs the mutants of the rungs that serve the case, on the largest case of each kind, and that are not
  // reported yet.
  void run_case(const Case& c) {
    Result<lab::HostProblem> host = lab::HostProblem::create(*op_, *cases_, c);
    ASSERT_TRUE(is_ok(host.status()));
    Result<lab::DeviceProblem> problem = lab::DeviceProblem::create(*host, kSim);
    ASSERT_TRUE(is_ok(problem.status()));
    for (const lab::Candidate& candidate :
         lab::candidates(*op_, {}, {}, problem->args(), problem->properties())) {
      if (!candidate.unsupported.empty()) continue;
      const bool is_other = c.dtype != cases_->default_host_case.dtype;
      if (is_other && (default_rungs_.contains(candidate.id) || rungs_of_pass_.contains(candidate.id)))
        continue;
      if (!done_.insert(candidate.id + " " + kind_of(c)).second) continue;
      (is_other ? rungs_of_pass_ : default_rungs_).insert(candidate.id);
      ASSERT_TRUE(is_ok(simt::set_executor_config({})));
      const Result<lab::WatchedRun> right = lab::watch_candidate(candidate, *problem, {});
      ASSERT_TRUE(is_ok(right.status()));
      ASSERT_EQ(describe(right->report), "") << candidate.id;
      for (const LineSyncs& sync : right->report.syncs) {
        // They carry values, or nothing that waits: not to be left out.
        constexpr std::string_view kKept[] = {"shuffle", "vote", "mma_sync", "wgmma", "setmaxnreg"};
        if (std::find(std::begin(kKept), std::end(kKept), sync.name) != std::end(kKept)) continue;
        const std::string id =
            fmt::format("{}/{}: {}", op_->name, candidate.id, simt::checked::source_text(sync.at));
        bool& reported = mutants_[{id, sync.at}];
        reported = reported || is_reported(candidate, *problem, sync.at);
      }
    }
  }

  std::map<std::pair<std::string, SourceLine>, bool> mutants_;  // reported on one of the cases
  std::set<std::string> done_;                                  // rung and kind of case, in this pass
  std::set<std::string> default_rungs_;                         // that serve the default dtype
  std::set<std::string> rungs_of_pass_;                         // others, in this pass
};

INSTANTIATE_TEST_SUITE_P(Operators, Mutants, ::testing::ValuesIn(operator_names()), operator_name);

TEST_P(Mutants, AreReported) {
  std::set<std::string> other_rungs;
  for (const auto& [least, most] : {std::pair{-1.0, kFewBytes}, std::pair{kFewBytes, kMostBytes}}) {
    for (const Case& c : small_cases(*cases_, least, most)) ASSERT_NO_FATAL_FAILURE(run_case(c));
    other_rungs.merge(rungs_of_pass_);
    rungs_of_pass_.clear();
    done_.clear();
  }
  for (const RungRow& rung : op_->rungs) {
    if (rung.kind != RungKind::gpu || !rung.wrong_on_purpose.empty()) continue;
    EXPECT_TRUE(default_rungs_.contains(rung.id) || other_rungs.contains(rung.id))
        << "no small case for " << rung.id;
  }
  if (kernels_have_barriers(op_->name)) {
    EXPECT_FALSE(mutants_.empty()) << "not one barrier was left out";
  }

  std::set<std::string> equivalent = equivalent_mutants(op_->name);
  std::size_t reported = 0;
  std::size_t proven = 0;
  for (const auto& [mutant, found] : mutants_) {
    const auto& [id, at] = mutant;
    const bool equal = !found && equivalent.contains(id);
    reported += found ? 1 : 0;
    proven += equal ? 1 : 0;
    fmt::print("{:<10} {} at {}\n", found ? "reported" : equal ? "equivalent" : "MISSED", id, to_string(at));
    EXPECT_TRUE(found || equal) << "not reported: " << id << " at " << to_string(at);
  }
  fmt::print("{}: {} of {} mutants reported, {} equivalent with a proof\n", op_->name, reported,
             mutants_.size(), proven);
  EXPECT_EQ(proven, equivalent.size()) << "equivalent_mutants.txt names what is no mutant or is reported";
  EXPECT_LE(20 * proven, mutants_.size() + 19) << "more than 5 % are said to be equivalent";
}

}  // namespace
}  // namespace rooftile::operators_testing
