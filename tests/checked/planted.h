// Planted bugs: what a report must say of them.
#pragma once

#include <algorithm>
#include <chrono>
#include <ostream>
#include <string>
#include <tuple>

#include "rooftile/sim/checked/source_lines.h"
#include "tests/checked/checked_test.h"

namespace rooftile::checked_testing {

using simt::checked::Finding;
using simt::checked::FindingKind;

template <class Bug>
struct Planted {
  Bug bug;
  const char* name;
  FindingKind kind;
  std::string what;            // in the report's text
  const char* line = nullptr;  // of the comment BUG in the kernel's file; null: the same as the name
};

template <class Bug>
void PrintTo(const Planted<Bug>& planted, std::ostream* out) {
  *out << planted.name;
}

// "bug_kernels.cu:41"
inline std::string line_with_comment(const std::string& file, const std::string& name) {
  for (unsigned line = 1; line < 300; ++line) {
    const std::string text = simt::checked::source_text({"tests/checked/" + file, line});
    if (text.ends_with("// BUG " + name)) return file + ":" + std::to_string(line);
  }
  return "no line has the comment BUG " + name;
}

// The bug is told with its line, and nothing else is said to be wrong; but who reads before the writer reads
// what is not there yet.
template <class Bug>
void expect_found(const Report& report, const Planted<Bug>& planted, const std::string& file) {
  const std::string line = line_with_comment(file, planted.line != nullptr ? planted.line : planted.name);
  const bool found = std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& f) {
    const bool in_text = f.at.file.empty() && f.what.find(line) != std::string::npos;
    return f.kind == planted.kind && (to_string(f.at) == line || to_string(f.other) == line || in_text) &&
           f.kernel.ends_with("_kernel") && f.what.find(planted.what) != std::string::npos;
  });
  EXPECT_TRUE(found) << "no report of " << to_string(planted.kind) << " at " << line << " among\n"
                     << describe(report);
  for (const Finding& finding : report.findings) {
    const bool follows = planted.kind == FindingKind::race && finding.kind == FindingKind::uninitialised;
    EXPECT_TRUE(finding.kind == planted.kind || follows) << describe(report);
  }
}

// A lane order, and with metrics or without.
using Schedule = std::tuple<simt::LaneOrder, bool>;

inline void use_schedule(const Schedule& schedule) {
  ASSERT_TRUE(is_ok(simt::set_executor_config({.order = std::get<0>(schedule),
                                               .seed = 3,
                                               .workers = 1,
                                               .watchdog = std::chrono::milliseconds(100)})));
}

inline auto all_schedules() { return ::testing::Combine(simt::every_lane_order(), ::testing::Bool()); }

inline std::string name_of(const Schedule& schedule) {
  return std::string(simt::order_name(std::get<0>(schedule))) + (std::get<1>(schedule) ? "_metrics" : "");
}

// Kernels in which nothing is wrong, by every schedule.
class RightKernels : public ::testing::TestWithParam<Schedule> {
 protected:
  void SetUp() override { use_schedule(GetParam()); }
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

// Bugs planted in one file of kernels, by every schedule.
template <class Bug>
class PlantedBugs : public ::testing::TestWithParam<std::tuple<Planted<Bug>, Schedule>> {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }

  // What a watched launch(bug) tells, whatever its status.
  template <class Launch>
  Report report_of(const std::vector<Buffer>& buffers, Launch launch) {
    const auto& [planted, schedule] = this->GetParam();
    use_schedule(schedule);
    return watch(
        {.metrics = std::get<1>(schedule)}, buffers, [&, bug = planted.bug] { return launch(bug); },
        &status_);
  }
  template <class Launch>
  void expect_found_in(const std::string& file, const std::vector<Buffer>& buffers, Launch launch) {
    expect_found(report_of(buffers, launch), std::get<0>(this->GetParam()), file);
  }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  Status status_;  // of the last launch
};

// For INSTANTIATE_TEST_SUITE_P.
inline std::string schedule_name(const ::testing::TestParamInfo<Schedule>& info) {
  return name_of(info.param);
}
template <class Bug>
std::string planted_name(const ::testing::TestParamInfo<std::tuple<Planted<Bug>, Schedule>>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + name_of(std::get<1>(info.param));
}

}  // namespace rooftile::checked_testing
