// The access lessons: theory is met exactly, and the mistakes that are planted in them are found.
#include <algorithm>
#include <map>

#include "rooftile/lab/simulate/simulation.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/sim/checked/source_lines.h"
#include "tests/checked/checked_test.h"
#include "tests/operators/operators_testing.h"

namespace rooftile::operators_testing {
namespace {

using checked_testing::describe;
using checked_testing::DeviceVector;
using checked_testing::input;
using checked_testing::is_ok;
using checked_testing::kStream;
using checked_testing::output;
using checked_testing::SessionOptions;
using checked_testing::watch;
using simt::checked::Finding;
using simt::checked::FindingKind;
using Args = std::vector<std::pair<std::string, std::string>>;

lab::Simulation simulate(const std::string& op, const std::string& rung, const Args& args,
                         SessionOptions session = {.metrics = true}) {
  lab::SimulationOptions options;
  options.request.args = args;
  options.session = std::move(session);
  Result<lab::Simulation> simulation = lab::simulate(registry(), *registry().find(op), rung, options);
  EXPECT_TRUE(is_ok(simulation.status())) << op << "/" << rung;
  return simulation.ok() ? *simulation : lab::Simulation{};
}

// One lesson in every lane order.
class LessonTest : public ::testing::TestWithParam<simt::LaneOrder> {
 protected:
  explicit LessonTest(std::string op) : op_(std::move(op)) {}
  void SetUp() override {
    if (registry().find(op_) == nullptr) GTEST_SKIP() << op_ << " is not among the operators of this build";
    ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 11})));
  }
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }

  double metric(const std::string& rung, const Args& args, const std::string& name) const {
    const lab::Simulation simulation = simulate(op_, rung, args);
    EXPECT_EQ(simulation.run.wrong, "");
    EXPECT_EQ(describe(simulation.run.report), "");
    const Result<std::optional<double>> value = lab::access_metric(simulation, name);
    EXPECT_TRUE(is_ok(value.status()));
    return value.ok() ? value->value_or(-1.0) : -1.0;
  }

  std::string op_;
};

// ctest finds a lesson's tests by its name: access_copy's are AccessCopyTest.
#define ROOFTILE_LESSON_TEST(Lesson, operator_id) \
  struct Lesson##Test : LessonTest {              \
    Lesson##Test() : LessonTest(operator_id) {}   \
  };                                              \
  INSTANTIATE_TEST_SUITE_P(Orders, Lesson##Test, simt::every_lane_order(), simt::lane_order_name)

ROOFTILE_LESSON_TEST(AccessCopy, "access_copy");
ROOFTILE_LESSON_TEST(AccessConstant, "access_constant");
ROOFTILE_LESSON_TEST(AccessBranch, "access_branch");
ROOFTILE_LESSON_TEST(AccessLoop, "access_loop");
ROOFTILE_LESSON_TEST(AccessCount, "access_count");

constexpr const char* kLoadSectors = "global_load_sectors_per_request";
constexpr const char* kStoreSectors = "global_store_sectors_per_request";

TEST_P(AccessCopyTest, SectorsByStride) {
  const std::map<std::string, double> sectors = {{"1", 4}, {"2", 8}, {"4", 16}, {"8", 32}, {"32", 32}};
  for (const auto& [stride, expected] : sectors) {
    EXPECT_EQ(metric("one_per_thread", {{"stride", stride}}, kLoadSectors), expected) << stride;
    EXPECT_EQ(metric("one_per_thread", {{"stride", stride}}, kStoreSectors), 4) << stride;
  }
}

TEST_P(AccessCopyTest, SectorsByOffset) {
  // 128 bytes that begin inside of a sector lie in five; 8 elements are a sector.
  const std::map<std::string, double> sectors = {{"0", 4},  {"1", 5},  {"4", 5}, {"8", 4},
                                                 {"16", 4}, {"31", 5}, {"32", 4}};
  for (const auto& [offset, expected] : sectors) {
    EXPECT_EQ(metric("one_per_thread", {{"offset", offset}}, kLoadSectors), expected) << offset;
  }
}

// Where the lanes have gaps between them an offset of one costs nothing.
TEST_P(AccessCopyTest, SectorsByOffsetAndStride) {
  EXPECT_EQ(metric("one_per_thread", {{"offset", "1"}, {"stride", "2"}}, kLoadSectors), 8);
  EXPECT_EQ(metric("one_per_thread", {{"offset", "1"}, {"stride", "8"}}, kLoadSectors), 32);
}

TEST_P(AccessCopyTest, SectorsByWidth) {
  for (const char* name : {kLoadSectors, kStoreSectors}) {
    EXPECT_EQ(metric("float2", {}, name), 8);
    EXPECT_EQ(metric("float4", {}, name), 16);
    EXPECT_EQ(metric("float4_four_in_flight", {}, name), 16);
  }
}

TEST_P(AccessConstantTest, WordsByIndex) {
  constexpr const char* kWords = "constant_load_words_per_request";
  EXPECT_EQ(metric("constant_memory", {{"index", "uniform"}}, kWords), 1);
  EXPECT_EQ(metric("constant_memory", {{"index", "lane"}}, kWords), 32);
  EXPECT_EQ(metric("shared_table", {{"index", "lane"}}, "shared_load_conflict_degree"), 1);
}

// A warp that disagrees has 16 lanes in each way; agreeing warps have all.
TEST_P(AccessBranchTest, LanesOfABlock) {
  constexpr const char* kLanes = "active_lanes_per_basic_block";
  const double divergent = metric("branch_per_lane", {}, kLanes);
  EXPECT_GE(divergent, 16);
  EXPECT_LT(divergent, 18);  // the loop over the elements is not divergent
  EXPECT_EQ(metric("branch_per_warp", {}, kLanes), 32);
}

TEST_P(AccessLoopTest, LanesOfEqualTrips) {
  EXPECT_EQ(metric("trips_per_warp_shared", {}, "active_lanes_per_basic_block"), 32);
}

std::vector<std::string> operators_with_a_mistake() {
  std::vector<std::string> names;
  for (const OperatorDescriptor* op : registry().operators()) {
    const auto planted = [](const RungRow& rung) { return !rung.wrong_on_purpose.empty(); };
    if (std::any_of(op->rungs.begin(), op->rungs.end(), planted)) names.push_back(op->name);
  }
  return names;
}

class PlantedMistakes : public OperatorOrderTest {
 protected:
  // Who reads before the other has written reads what is not there yet: that may be said beside the race.
  static void expect_race_at_bug(const lab::Simulation& simulation) {
    EXPECT_FALSE(simulation.failed());
    int races = 0;
    for (const Finding& finding : simulation.run.report.findings) {
      if (finding.kind != FindingKind::uninitialised) {
        EXPECT_EQ(finding.kind, FindingKind::race) << describe(simulation.run.report);
        ++races;
      }
      const bool here = simt::checked::source_text(finding.at).find("// BUG") != std::string::npos;
      const bool there = simt::checked::source_text(finding.other).find("// BUG") != std::string::npos;
      EXPECT_TRUE(here || there) << describe(simulation.run.report);
    }
    EXPECT_GT(races, 0) << simulation.rung;
  }
};
INSTANTIATE_TEST_SUITE_P(Forward, PlantedMistakes,
                         ::testing::Combine(::testing::Values(simt::LaneOrder::forward),
                                            ::testing::ValuesIn(operators_with_a_mistake())),
                         ordered_operator_name);
INSTANTIATE_TEST_SUITE_P(Reversed, PlantedMistakes,
                         ::testing::Combine(::testing::Values(simt::LaneOrder::reversed),
                                            ::testing::ValuesIn(operators_with_a_mistake())),
                         ordered_operator_name);
INSTANTIATE_TEST_SUITE_P(Random, PlantedMistakes,
                         ::testing::Combine(::testing::Values(simt::LaneOrder::random),
                                            ::testing::ValuesIn(operators_with_a_mistake())),
                         ordered_operator_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PlantedMistakes);  // a set of operators without a mistake

// Every rung that is wrong on purpose: its mistake is reported at the line that says BUG, and nothing else is.
TEST_P(PlantedMistakes, AreFoundAtTheirLine) {
  for (const RungRow& rung : op_->rungs) {
    if (rung.wrong_on_purpose.empty()) continue;
    for (const bool metrics : {false, true}) {
      expect_race_at_bug(simulate(op_->name, rung.id, {}, {.metrics = metrics}));
    }
  }
}

// What 256 threads that add 3 leave: by the instrumented kernels, in lockstep.
TEST_P(AccessCountTest, TheRaceOf256Threads) {
  const OperatorDescriptor* op = registry().find(op_);
  const Result<const DeviceProperties*> device = device_properties(kSim);
  ASSERT_TRUE(is_ok(device.status()));
  const auto count = [&](const std::string& rung, std::size_t threads) {
    const DeviceVector<std::int32_t> x(threads, 3);
    DeviceVector<std::int32_t> y(1, -1);
    const AccessCountArgs args{.x = view(x.data(), {static_cast<std::int64_t>(threads)}, kSim),
                               .y = view(y.data(), {}, kSim)};
    (void)watch({.metrics = true}, {input("x", x), output("y", y)}, [&] {
      const RungPlan plan;
      return op->find_rung(rung)->launch.checked({kStream, *device, ArgsRef::of(args), &plan, {}});
    });
    return y[0];
  };
  EXPECT_EQ(count("unguarded", 32), 3);
  // In order the eight warps take turns, and each adds 3 once; where they mix, fewer of the additions
  // survive.
  const std::int32_t left = count("unguarded", 256);
  EXPECT_EQ(left % 3, 0);
  EXPECT_GE(left, 3);
  if (GetParam() == simt::LaneOrder::random) {
    EXPECT_LE(left, 24);
  } else {
    EXPECT_EQ(left, 24);
  }
  for (const char* cure : {"atomic_per_thread", "atomic_per_warp", "atomic_per_block"}) {
    EXPECT_EQ(count(cure, 256), 768) << cure;
  }
}

}  // namespace
}  // namespace rooftile::operators_testing
