// What mma, ldmatrix and stmatrix cost, by hand, and the bugs that are found in them.
#include "tests/checked/fragment_kernels.h"

#include "tests/checked/planted.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

struct Memory {
  DeviceVector<unsigned short> in = DeviceVector<unsigned short>(512, 0x3c00);
  DeviceVector<float> out = DeviceVector<float>(1024);
  [[nodiscard]] std::vector<Buffer> buffers() const { return {input("in", in), output("out", out)}; }
};

const Planted<FragmentBug> kPlanted[] = {
    {FragmentBug::mma_missing_lane, "mma_missing_lane", FindingKind::deadlock, "wait in mma_sync", "mma"},
    {FragmentBug::mma_two_lines, "mma_two_lines", FindingKind::failure,
     "all lanes of a warp must make the same call", "mma"},
};

class FragmentBugs : public ::testing::TestWithParam<std::tuple<Planted<FragmentBug>, Schedule>> {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

TEST_P(FragmentBugs, AreFoundWithTheirLine) {
  const auto& [planted, schedule] = GetParam();
  use_schedule(schedule);
  Memory memory;
  Status status;
  const Report report = watch(
      {.metrics = std::get<1>(schedule)}, memory.buffers(),
      [&, bug = planted.bug] { return run_fragment_bug(kStream, bug, memory.in.data(), memory.out.data()); },
      &status);
  expect_found(report, planted, "fragment_kernels.cu");
}

INSTANTIATE_TEST_SUITE_P(Planted, FragmentBugs,
                         ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<FragmentBug>);

class RightFragments : public ::testing::TestWithParam<Schedule> {
 protected:
  void SetUp() override { use_schedule(GetParam()); }
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

TEST_P(RightFragments, ProductsAreCountedAndNotReported) {
  Memory memory;
  const Report report = watch({.metrics = std::get<1>(GetParam())}, memory.buffers(), [&] {
    return run_fragment_bug(kStream, FragmentBug::none, memory.in.data(), memory.out.data());
  });
  EXPECT_EQ(describe(report), "");
  for (const float sum : std::vector<float>(memory.out.begin(), memory.out.begin() + 256)) EXPECT_EQ(sum, 16);
  std::uint64_t products = 0;
  for (const auto& sync : report.syncs) products += sync.name == "mma_sync" ? sync.count : 0;
  EXPECT_EQ(products, 2u);  // one of each warp
  EXPECT_EQ(report.total(MemorySpace::shared, AccessKind::load).requests, 0u);
}

INSTANTIATE_TEST_SUITE_P(Schedules, RightFragments, all_schedules(), schedule_name);

}  // namespace
}  // namespace rooftile::checked_testing
