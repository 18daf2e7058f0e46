// A planted bug of each kind is found, and named with its line.
#include <numeric>

#include "tests/checked/planted.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

const Planted<Bug> kPlanted[] = {
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
    {Bug::input_written, "input_written", FindingKind::read_only_write, "of in, which is an input"},
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
    return {
        {"in", &in[64], 256, true, true}, {"out", &out[64], 256, false}, {"flag", &flag, sizeof flag, true}};
  }
};

class Bugs : public PlantedBugs<Bug> {};

TEST_P(Bugs, AreFoundWithTheirLine) {
  Memory memory;
  expect_found_in("bug_kernels.cu", memory.buffers(), [&](Bug bug) {
    return run_bug(kStream, bug, &memory.in[64], &memory.out[64], &memory.flag);
  });
}

INSTANTIATE_TEST_SUITE_P(Planted, Bugs, ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<Bug>);

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
