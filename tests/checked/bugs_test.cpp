// A planted bug of each kind is found, and named with its line.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "rooftile/sim/checked/source_lines.h"
#include "tests/checked/checked_test.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;
using simt::checked::Finding;
using simt::checked::FindingKind;
using std::chrono::milliseconds;

struct Planted {
  Bug bug;
  const char* name;  // of the comment in the kernel; nullptr: the report's text has the lines
  FindingKind kind;
  std::string what;  // in the report's text
};

void PrintTo(const Planted& planted, std::ostream* out) { *out << planted.name; }

const Planted kPlanted[] = {
    {Bug::missing_barrier, "missing_barrier", FindingKind::race, "of shared s_values"},
    {Bug::write_after_read, "write_after_read", FindingKind::race, "of shared s_values"},
    {Bug::two_writers, "two_writers", FindingKind::race, "of shared s_total"},
    {Bug::missing_syncwarp, "missing_syncwarp", FindingKind::race, "no synchronisation"},
    {Bug::partial_syncwarp, "partial_syncwarp", FindingKind::race, "no synchronisation"},
    {Bug::uninitialised_shared, "uninitialised_shared", FindingKind::uninitialised,
     "block (0,0,0), thread (5,0,0) reads byte 20 of shared s_values"},
    {Bug::uninitialised_global, "uninitialised_global", FindingKind::uninitialised,
     "of out, which nobody has written"},
    {Bug::global_read_behind, "global_read_behind", FindingKind::out_of_bounds,
     "thread (63,0,0) reads byte 256 of in, which has 256 bytes"},
    {Bug::global_write_in_front, "global_write_in_front", FindingKind::out_of_bounds,
     "thread (0,0,0) writes byte -4 of out, which has 256 bytes"},
    {Bug::dynamic_shared_behind, "dynamic_shared_behind", FindingKind::out_of_bounds,
     "thread (63,0,0) writes byte 256 of dynamic shared memory, which has 256 bytes"},
    {Bug::static_shared_behind, "static_shared_behind", FindingKind::out_of_bounds, "index 64 of an array"},
    {Bug::divergent_barrier, "divergent_barrier", FindingKind::divergent_barrier, "bug_kernels.cu:"},
    {Bug::exited_lane, "exited_lane", FindingKind::shuffle_source, "reads from lane 7, which has exited"},
    {Bug::deadlock, "deadlock", FindingKind::deadlock, "bug_kernels.cu:"},
    {Bug::livelock, "livelock", FindingKind::deadlock, "bug_kernels.cu:"},
};

// Guards around what the kernels may touch, so that a bug meets memory of ours.
struct Memory {
  std::vector<int> in = std::vector<int>(192, 1);
  std::vector<int> out = std::vector<int>(192);
  unsigned flag = 0;
  [[nodiscard]] std::vector<Buffer> buffers() const {
    return {{"in", &in[64], 256, true}, {"out", &out[64], 256, false}, {"flag", &flag, sizeof flag, true}};
  }
};

std::string line_with_comment(const std::string& name) {
  for (unsigned line = 1; line < 200; ++line) {
    const std::string text = simt::checked::source_text({"tests/checked/bug_kernels.cu", line});
    if (text.ends_with("// BUG " + name)) return "bug_kernels.cu:" + std::to_string(line);
  }
  return "no line has the comment BUG " + name;
}

using Schedule = std::tuple<simt::LaneOrder, bool>;  // and with metrics

class Bugs : public ::testing::TestWithParam<std::tuple<Planted, Schedule>> {
 protected:
  static void use(const Schedule& schedule) {
    ASSERT_TRUE(is_ok(simt::set_executor_config(
        {.order = std::get<0>(schedule), .seed = 3, .workers = 1, .watchdog = milliseconds(100)})));
  }
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

TEST_P(Bugs, AreFoundWithTheirLine) {
  const auto& [planted, schedule] = GetParam();
  use(schedule);
  Memory memory;
  Status status;
  const Report report = watch(
      {.metrics = std::get<1>(schedule)}, memory.buffers(),
      [&, bug = planted.bug] { return run_bug(kStream, bug, &memory.in[64], &memory.out[64], &memory.flag); },
      &status);
  const std::string line = line_with_comment(planted.name);
  const bool found =
      std::any_of(report.findings.begin(), report.findings.end(), [&, p = planted](const Finding& f) {
        const bool in_text = f.at.file.empty() && f.what.find(line) != std::string::npos;
        return f.kind == p.kind && (to_string(f.at) == line || to_string(f.other) == line || in_text) &&
               f.kernel == "bug_kernel" && f.what.find(p.what) != std::string::npos;
      });
  EXPECT_TRUE(found) << "no report of " << to_string(planted.kind) << " at " << line << " among\n"
                     << describe(report);
  // Nothing else is said to be wrong; but who reads before the writer reads what is not there yet.
  for (const Finding& finding : report.findings) {
    const bool follows = planted.kind == FindingKind::race && finding.kind == FindingKind::uninitialised;
    EXPECT_TRUE(finding.kind == planted.kind || follows) << describe(report);
  }
}

std::string test_name(const ::testing::TestParamInfo<std::tuple<Planted, Schedule>>& info) {
  const auto& [planted, schedule] = info.param;
  const char* const orders[] = {"forward", "reversed", "random"};
  return std::string(planted.name) + "_" + orders[static_cast<int>(std::get<0>(schedule))] +
         (std::get<1>(schedule) ? "_metrics" : "");
}

INSTANTIATE_TEST_SUITE_P(Planted, Bugs,
                         ::testing::Combine(::testing::ValuesIn(kPlanted),
                                            ::testing::Combine(::testing::Values(simt::LaneOrder::forward,
                                                                                 simt::LaneOrder::reversed,
                                                                                 simt::LaneOrder::random),
                                                               ::testing::Bool())),
                         test_name);

TEST(NoBug, NothingIsReported) {
  Memory memory;
  for (const Bug bug : {Bug::none, Bug::none_with_partial_warps}) {
    const Report report = watch({}, memory.buffers(), [&] {
      return run_bug(kStream, bug, &memory.in[64], &memory.out[64], &memory.flag);
    });
    EXPECT_EQ(describe(report), "");
  }
}

// The mutation of a right kernel: its barrier, disabled at run time.
TEST(NoBug, ADisabledBarrierIsARace) {
  Memory memory;
  const auto run = [&] { return run_bug(kStream, Bug::none, &memory.in[64], &memory.out[64], &memory.flag); };
  const Report right = watch({}, memory.buffers(), run);
  ASSERT_EQ(right.syncs.size(), 1u);
  const Report mutant = watch({.disabled = {right.syncs[0].at}}, memory.buffers(), run);
  ASSERT_FALSE(mutant.findings.empty());
  EXPECT_EQ(mutant.findings[0].kind, FindingKind::race);
}

TEST(Sessions, OneAtATime) {
  Result<std::unique_ptr<Session>> first = Session::start({});
  ASSERT_TRUE(is_ok(first.status()));
  EXPECT_FALSE(Session::start({}).ok());
  first->reset();
  EXPECT_TRUE(Session::start({}).ok());
}

}  // namespace
}  // namespace rooftile::checked_testing
