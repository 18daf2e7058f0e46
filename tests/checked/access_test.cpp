// The access lessons: theory is met exactly, and the mistakes that are planted in them are found.
#include <map>

#include "rooftile/core/registry.h"
#include "rooftile/lab/simulate/simulation.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/sim/checked/source_lines.h"
#include "tests/checked/checked_test.h"

namespace rooftile::checked_testing {
namespace {

using simt::checked::Finding;
using simt::checked::FindingKind;
using Args = std::vector<std::pair<std::string, std::string>>;

class Access : public ::testing::TestWithParam<simt::LaneOrder> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 11})));
    register_all_operators(registry_);
    register_all_lessons(registry_);
    register_all_cases(registry_);
  }
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }

  lab::Simulation simulate(const std::string& op, const std::string& rung, const Args& args,
                           SessionOptions session = {.metrics = true}) {
    const Result<const OperatorDescriptor*> found = registry_.get(op);
    EXPECT_TRUE(is_ok(found.status()));
    if (!found.ok()) return {};
    lab::SimulationOptions options;
    options.request.args = args;
    options.session = std::move(session);
    Result<lab::Simulation> simulation = lab::simulate(registry_, **found, rung, options);
    EXPECT_TRUE(is_ok(simulation.status())) << op << "/" << rung;
    return simulation.ok() ? *simulation : lab::Simulation{};
  }

  double metric(const std::string& op, const std::string& rung, const Args& args, const std::string& name) {
    const lab::Simulation simulation = simulate(op, rung, args);
    EXPECT_EQ(simulation.run.wrong, "");
    EXPECT_EQ(describe(simulation.run.report), "");
    const Result<std::optional<double>> value = lab::access_metric(simulation, name);
    EXPECT_TRUE(is_ok(value.status()));
    return value.ok() ? value->value_or(-1.0) : -1.0;
  }

  Registry registry_;
};

constexpr const char* kLoadSectors = "global_load_sectors_per_request";
constexpr const char* kStoreSectors = "global_store_sectors_per_request";

TEST_P(Access, CopySectorsByStride) {
  const std::map<std::string, double> sectors = {{"1", 4}, {"2", 8}, {"4", 16}, {"8", 32}, {"32", 32}};
  for (const auto& [stride, expected] : sectors) {
    EXPECT_EQ(metric("access_copy", "one_per_thread", {{"stride", stride}}, kLoadSectors), expected)
        << stride;
    EXPECT_EQ(metric("access_copy", "one_per_thread", {{"stride", stride}}, kStoreSectors), 4) << stride;
  }
}

TEST_P(Access, CopySectorsByOffset) {
  // 128 bytes that begin inside of a sector lie in five; 8 elements are a sector.
  const std::map<std::string, double> sectors = {{"0", 4},  {"1", 5},  {"4", 5}, {"8", 4},
                                                 {"16", 4}, {"31", 5}, {"32", 4}};
  for (const auto& [offset, expected] : sectors) {
    EXPECT_EQ(metric("access_copy", "one_per_thread", {{"offset", offset}}, kLoadSectors), expected)
        << offset;
  }
}

// Where the lanes have gaps between them an offset of one costs nothing.
TEST_P(Access, CopySectorsByOffsetAndStride) {
  EXPECT_EQ(metric("access_copy", "one_per_thread", {{"offset", "1"}, {"stride", "2"}}, kLoadSectors), 8);
  EXPECT_EQ(metric("access_copy", "one_per_thread", {{"offset", "1"}, {"stride", "8"}}, kLoadSectors), 32);
}

TEST_P(Access, CopySectorsByWidth) {
  for (const char* name : {kLoadSectors, kStoreSectors}) {
    EXPECT_EQ(metric("access_copy", "float2", {}, name), 8);
    EXPECT_EQ(metric("access_copy", "float4", {}, name), 16);
    EXPECT_EQ(metric("access_copy", "float4_four_in_flight", {}, name), 16);
  }
}

TEST_P(Access, ConstantWordsByIndex) {
  constexpr const char* kWords = "constant_load_words_per_request";
  EXPECT_EQ(metric("access_constant", "constant_memory", {{"index", "uniform"}}, kWords), 1);
  EXPECT_EQ(metric("access_constant", "constant_memory", {{"index", "lane"}}, kWords), 32);
  EXPECT_EQ(metric("access_constant", "shared_table", {{"index", "lane"}}, "shared_load_conflict_degree"), 1);
}

// A warp that disagrees has 16 lanes in each way; agreeing warps have all.
TEST_P(Access, LanesOfABranch) {
  constexpr const char* kLanes = "active_lanes_per_basic_block";
  const double divergent = metric("access_branch", "branch_per_lane", {}, kLanes);
  EXPECT_GE(divergent, 16);
  EXPECT_LT(divergent, 18);  // the loop over the elements is not divergent
  EXPECT_EQ(metric("access_branch", "branch_per_warp", {}, kLanes), 32);
  EXPECT_EQ(metric("access_loop", "trips_per_warp_shared", {}, kLanes), 32);
}

// Every rung that is wrong on purpose: its mistake is reported at the line that says BUG, and nothing else
// is.
TEST_P(Access, PlantedMistakesAreFoundAtTheirLine) {
  int planted = 0;
  for (const OperatorDescriptor* op : registry_.operators()) {
    for (const RungRow& rung : op->rungs) {
      if (rung.wrong_on_purpose.empty()) continue;
      ++planted;
      for (const bool metrics : {false, true}) {
        const lab::Simulation simulation = simulate(op->name, rung.id, {}, {.metrics = metrics});
        EXPECT_FALSE(simulation.failed());
        int races = 0;
        for (const Finding& finding : simulation.run.report.findings) {
          // Who reads before the other has written reads what is not there yet.
          if (finding.kind != FindingKind::uninitialised) {
            EXPECT_EQ(finding.kind, FindingKind::race) << describe(simulation.run.report);
            ++races;
          }
          const bool here = simt::checked::source_text(finding.at).find("// BUG") != std::string::npos;
          const bool there = simt::checked::source_text(finding.other).find("// BUG") != std::string::npos;
          EXPECT_TRUE(here || there) << describe(simulation.run.report);
        }
        EXPECT_GT(races, 0) << rung.id;
      }
    }
  }
  EXPECT_EQ(planted, 2);
}

// What 256 threads that add 3 leave: by the instrumented kernels, in lockstep.
TEST_P(Access, TheRaceOf256Threads) {
  const Result<const OperatorDescriptor*> op = registry_.get("access_count");
  ASSERT_TRUE(is_ok(op.status()));
  const Result<const DeviceProperties*> device = device_properties(kSim);
  ASSERT_TRUE(is_ok(device.status()));
  const auto count = [&](const std::string& rung, std::size_t threads) {
    const DeviceVector<std::int32_t> x(threads, 3);
    DeviceVector<std::int32_t> y(1, -1);
    const AccessCountArgs args{
        .x = contiguous_view<const void>(x.data(), DType::i32, kSim, {static_cast<std::int64_t>(threads)}),
        .y = contiguous_view<void>(y.data(), DType::i32, kSim, Extents{})};
    (void)watch({.metrics = true}, {input("x", x), output("y", y)}, [&] {
      const RungPlan plan;
      return (*op)->find_rung(rung)->launch.checked({kStream, *device, ArgsRef::of(args), &plan, {}});
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

INSTANTIATE_TEST_SUITE_P(Orders, Access,
                         ::testing::Values(simt::LaneOrder::forward, simt::LaneOrder::reversed,
                                           simt::LaneOrder::random));

}  // namespace
}  // namespace rooftile::checked_testing
