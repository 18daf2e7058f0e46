// Launches that are noted down in place of being run.
#include "rooftile/sim/launch_recording.h"

#include <string>

#include "rooftile/sim/checked/source_lines.h"
#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;

TEST(LaunchRecording, NotesDownAndDoesNotRun) {
  std::vector<unsigned> first(128, 7);
  std::vector<unsigned> second(128, 7);
  unsigned counter = 3;
  {
    const simt::LaunchRecording recording;
    // No memory behind these: a kernel that ran would stop here.
    EXPECT_TRUE(is_ok(run_tickets(kStream, 1 << 20, 64, nullptr, nullptr, nullptr)));
    EXPECT_TRUE(is_ok(run_tickets(kStream, 2, 64, &counter, first.data(), second.data())));
    ASSERT_EQ(recording.launches().size(), 2u);
    EXPECT_EQ(recording.launches()[0].shape.grid.x, 1u << 20);
    EXPECT_EQ(recording.launches()[0].shape.block.x, 64u);
    EXPECT_EQ(recording.launches()[0].kernel, recording.launches()[1].kernel);
    EXPECT_NE(simt::checked::symbol_of(recording.launches()[0].kernel).find("ticket"), std::string::npos);
  }
  EXPECT_EQ(counter, 3u);
  EXPECT_EQ(first[0], 7u);
  EXPECT_TRUE(is_ok(run_tickets(kStream, 2, 64, &counter, first.data(), second.data())));
  EXPECT_NE(counter, 3u);
}

TEST(LaunchRecording, TheInnermostTakesTheLaunch) {
  unsigned counter = 0;
  const simt::LaunchRecording outer;
  {
    const simt::LaunchRecording inner;
    EXPECT_TRUE(is_ok(run_tickets(kStream, 2, 64, &counter, nullptr, nullptr)));
    EXPECT_EQ(inner.launches().size(), 1u);
  }
  EXPECT_TRUE(outer.launches().empty());
  EXPECT_TRUE(is_ok(run_tickets(kStream, 2, 64, &counter, nullptr, nullptr)));
  EXPECT_EQ(outer.launches().size(), 1u);
}

// What no GPU takes is refused, recorded or not.
TEST(LaunchRecording, RefusesImpossibleShapes) {
  const simt::LaunchRecording recording;
  EXPECT_TRUE(mentions(run_tickets(kStream, 2, 2048, nullptr, nullptr, nullptr), "1024"));
  EXPECT_TRUE(recording.launches().empty());
}

}  // namespace
}  // namespace rooftile::sim_testing
