// Rows and cases of every operator: complete and without doubles.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <string>

#include "rooftile/lab/case/case_request.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

class Rows : public OperatorTest {};
INSTANTIATE_TEST_SUITE_P(Operators, Rows, ::testing::ValuesIn(operator_names()), operator_name);

// Elsewhere a launch that is not linked in is a reason to skip; this program links them all, so here it is a launcher
// whose name differs from its row's.
TEST_P(Rows, AreBuiltForTheSimulatedSm) {
  int kernels = 0;
  for (const RungRow& rung : op_->rungs) {
    if (rung.kind != RungKind::gpu) {
      EXPECT_TRUE(launch_for(rung, DeviceKind::cpu)) << rung.id << " has no launch for the CPU";
      continue;
    }
    ++kernels;
    EXPECT_TRUE(rung.launch.sim) << rung.id << " has no launch for sim: its file defines another function";
#ifdef ROOFTILE_TEST_CHECKED
    EXPECT_TRUE(rung.launch.checked) << rung.id << " has no launch with instrumented accesses";
#endif
  }
  EXPECT_GT(kernels, 0) << "no rung is a kernel";
}

// A file in rungs/ whose row was forgotten is a kernel that nobody runs.
TEST_P(Rows, EveryFileOfARungHasARow) {
  const std::regex file_of_a_rung("[rc][0-9]+_([a-z0-9_]+?)(\\.sm[0-9]+a?)?\\.(cu|cpp)");
  for (const char* home : {"rooftile/ops/", "rooftile/lessons/"}) {
    const std::filesystem::path folder =
        std::filesystem::path(ROOFTILE_SOURCE_DIR) / home / op_->name / "rungs";
    if (!std::filesystem::exists(folder)) continue;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string name = file.path().filename().string();
      std::smatch match;
      if (!std::regex_match(name, match, file_of_a_rung)) continue;
      EXPECT_NE(op_->find_rung(match[1].str()), nullptr)
          << name << " has no row in " << op_->name << "'s table";
    }
  }
}

TEST_P(Rows, CasesHaveIdsOfTheirOwn) {
  std::map<std::string, int> count;
  for (const Case& c : cases_->cases()) ++count[case_id(c)];
  EXPECT_FALSE(count.empty());
  for (const auto& [id, times] : count) EXPECT_EQ(times, 1) << id;
}

// What a repro line names is a case that the operator takes.
TEST_P(Rows, CasesHaveShapesThatACallerMayName) {
  std::vector<Case> cases = cases_->cases();
  cases.push_back(cases_->default_case);
  cases.push_back(cases_->default_host_case);
  for (const Case& c : cases) {
    lab::CaseRequest request;
    for (const auto& [key, extent] : c.shape) request.shape.emplace_back(key, std::to_string(extent));
    const Result<Case> named = lab::make_case(*op_, *cases_, request, DeviceKind::cpu);
    ASSERT_TRUE(named.ok()) << case_id(c) << ": " << named.status().message();
    EXPECT_EQ(named->shape, c.shape);
  }
}

}  // namespace
}  // namespace rooftile::operators_testing
