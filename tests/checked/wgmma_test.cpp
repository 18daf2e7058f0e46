// wgmma: what it reads, by hand, and the bugs that are found in it, each at its line; right kernels are not reported.
#include "tests/checked/wgmma_kernels.h"

#include "rooftile/core/context.h"
#include "tests/checked/planted.h"
#include "tests/device/sm90a_wgmma.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

struct Memory {
  DeviceVector<unsigned short> in = DeviceVector<unsigned short>(4096, 0x3c00);
  DeviceVector<float> out = DeviceVector<float>(128);
  [[nodiscard]] std::vector<Buffer> buffers() const { return {input("in", in), output("out", out)}; }
};

const Planted<WgmmaBug> kPlanted[] = {
    {WgmmaBug::sum_read_early, "sum_read_early", FindingKind::registers_in_use, "reads a sum of a wgmma"},
    {WgmmaBug::sum_read_of_newest_group, "sum_read_of_newest_group", FindingKind::registers_in_use,
     "reads a sum of a wgmma"},
    {WgmmaBug::sum_written_early, "sum_written_early", FindingKind::registers_in_use,
     "writes a sum of a wgmma"},
    {WgmmaBug::not_committed, "not_committed", FindingKind::registers_in_use, "reads a sum of a wgmma"},
    {WgmmaBug::no_fence_at_all, "no_fence_at_all", FindingKind::missing_wgmma_fence,
     "with no wgmma_fence before it", "first"},
    {WgmmaBug::sum_written_without_fence, "sum_written_without_fence", FindingKind::missing_wgmma_fence,
     "starts a wgmma with sums that it has touched"},
    {WgmmaBug::fragment_without_fence, "fragment_without_fence", FindingKind::missing_wgmma_fence,
     "starts a wgmma with a fragment of a that it has touched"},
    {WgmmaBug::fragment_overwritten, "fragment_overwritten", FindingKind::registers_in_use,
     "writes a fragment of a of a wgmma"},
    {WgmmaBug::no_proxy_fence, "no_proxy_fence", FindingKind::missing_proxy_fence,
     "starts a wgmma that reads byte", "written"},
    {WgmmaBug::proxy_fence_behind_barrier, "proxy_fence_behind_barrier", FindingKind::missing_proxy_fence,
     "starts a wgmma that reads byte", "first"},
    {WgmmaBug::no_barrier, "no_barrier", FindingKind::race, "starts a wgmma that reads byte", "first"},
    {WgmmaBug::operand_overwritten, "operand_overwritten", FindingKind::race, "an asynchronous copy read"},
    {WgmmaBug::operand_overwritten_by_copy, "operand_overwritten_by_copy", FindingKind::race,
     "starts a bulk_load that writes"},
    {WgmmaBug::newest_operand_overwritten, "newest_operand_overwritten", FindingKind::race,
     "an asynchronous copy read"},
    {WgmmaBug::uninitialised_operand, "uninitialised_operand", FindingKind::uninitialised,
     "starts a wgmma that reads byte 128 of shared dynamic shared memory", "first"},
    {WgmmaBug::stage_not_waited_for, "stage_not_waited_for", FindingKind::race, "an asynchronous copy",
     "stage"},
    {WgmmaBug::stage_of_wrong_phase, "stage_of_wrong_phase", FindingKind::race, "an asynchronous copy",
     "stage"},
    {WgmmaBug::stage_released_early, "stage_released_early", FindingKind::race,
     "starts a bulk_load that writes"},
    {WgmmaBug::not_waited_for, "not_waited_for", FindingKind::failure,
     "the block returned before the product was complete", "first"},
    {WgmmaBug::warp_does_not_come, "warp_does_not_come", FindingKind::deadlock, "wait in wgmma_wait", "wait"},
    {WgmmaBug::registers_of_three_warps, "registers_of_three_warps", FindingKind::failure,
     "warp 3 has not called setmaxnreg_dec<24>"},
};

class WgmmaBugs : public PlantedBugs<WgmmaBug> {};

TEST_P(WgmmaBugs, AreFoundWithTheirLine) {
  Memory memory;
  expect_found_in("wgmma_kernels.cu", memory.buffers(), [&](WgmmaBug bug) {
    return run_wgmma_bug(kStream, bug, memory.in.data(), memory.out.data());
  });
}

INSTANTIATE_TEST_SUITE_P(Planted, WgmmaBugs,
                         ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<WgmmaBug>);

class RightWgmma : public RightKernels {};

constexpr WgmmaBug kRight[] = {WgmmaBug::none, WgmmaBug::none_first_overwritten, WgmmaBug::none_fragments,
                               WgmmaBug::none_ring};

TEST_P(RightWgmma, IsNotReported) {
  for (const WgmmaBug right : kRight) {
    Memory memory;
    const Report report = watch({.metrics = std::get<1>(GetParam())}, memory.buffers(), [&] {
      return run_wgmma_bug(kStream, right, memory.in.data(), memory.out.data());
    });
    EXPECT_EQ(describe(report), "") << static_cast<int>(right);
  }
}

TEST_P(RightWgmma, ChangesOfRegistersAreCounted) {
  Memory memory;
  const Report report = watch({.metrics = std::get<1>(GetParam())}, memory.buffers(), [&] {
    return run_wgmma_bug(kStream, WgmmaBug::none_registers, memory.in.data(), memory.out.data());
  });
  EXPECT_EQ(describe(report), "");
  std::uint64_t changes = 0;
  for (const auto& sync : report.syncs) changes += sync.name == "setmaxnreg" ? sync.count : 0;
  EXPECT_EQ(changes, 4u);  // one of each warp
}

// Each of the fences, commits, waits and barriers, left out.
TEST_P(RightWgmma, EachFenceCommitAndWaitIsNeeded) {
  for (const WgmmaBug right : kRight) {
    Memory memory;
    const auto run = [&] { return run_wgmma_bug(kStream, right, memory.in.data(), memory.out.data()); };
    const Report report = watch({}, memory.buffers(), run);
    int left_out = 0;
    for (const auto& sync : report.syncs) {
      if (sync.name == "wgmma" || simt::checked::source_text(sync.at).ends_with("// EQUIVALENT")) continue;
      ++left_out;
      Status status;
      const Report mutant = watch({.disabled = {sync.at}}, memory.buffers(), run, &status);
      EXPECT_FALSE(mutant.findings.empty()) << sync.name << " at " << to_string(sync.at);
    }
    EXPECT_GE(left_out, 5) << static_cast<int>(right);
  }
}

// a is 16 cores of 8 x 16 bytes and b a quarter of its columns; each is a pass of the banks in every canonical layout.
TEST_P(RightWgmma, ItsReadsAreCounted) {
  if (!std::get<1>(GetParam())) GTEST_SKIP() << "counts are made with metrics";
  for (const int columns : {64, 256}) {
    for (const int swizzle : {0, 32, 64, 128}) {
      for (const bool mn_major : {false, true}) {
        for (const bool a_in_registers : {false, true}) {
          DeviceVector<float> out(128);
          const Report report = watch({.metrics = true}, {output("out", out)}, [&] {
            return run_wgmma_reads(kStream, columns, swizzle, mn_major, a_in_registers, out.data());
          });
          EXPECT_EQ(describe(report), "");
          AccessCounts counts;
          for (const auto& line : report.accesses) {
            if (simt::checked::source_text(line.at).ends_with("// the product")) counts.add(line.counts);
          }
          const auto expected = (a_in_registers ? 0u : 16u) + static_cast<unsigned>(columns) / 4u;
          EXPECT_EQ(counts.requests, 1u);
          EXPECT_EQ(counts.wavefronts, expected) << columns << ", " << swizzle << ", " << mn_major;
          EXPECT_EQ(counts.ideal_wavefronts, expected);
          std::uint64_t products = 0;
          for (const auto& sync : report.syncs) products += sync.name == "wgmma" ? sync.count : 0;
          EXPECT_EQ(products, 4u);  // one of each warp
        }
      }
    }
  }
}

// The kernels that prove the wrapper, in a ring of tiles that TMA fills.
TEST_P(RightWgmma, ARingOfTilesIsNotReported) {
  constexpr int kTiles = 5;
  constexpr std::int64_t kDepth = std::int64_t{kTiles} * testing_sm90a::kTilesDepth;
  for (const bool mn_major : {false, true}) {
    DeviceVector<unsigned short> a(std::size_t{128} * kDepth, 0x3c00);
    DeviceVector<unsigned short> b(std::size_t{128} * kDepth, 0x3c00);
    DeviceVector<float> out(std::size_t{128} * 128);
    const auto map = [&](void* data, std::int64_t rows) {
      TensorMapSpec spec;
      spec.data = data;
      spec.dtype = DType::f16;
      spec.rank = 2;
      spec.swizzle = TileSwizzle::bytes128;
      spec.extents = {mn_major ? rows : kDepth, mn_major ? kDepth : rows};
      spec.strides = {1, mn_major ? rows : kDepth};
      spec.box = {64, 64};
      return spec;
    };
    const Report report =
        watch({.metrics = std::get<1>(GetParam())}, {input("a", a), input("b", b), output("out", out)}, [&] {
          return checked::wgmma_test_kernels().tiles(kStream, mn_major, mn_major, map(a.data(), 128),
                                                     map(b.data(), 128), 1, kTiles, out.data());
        });
    EXPECT_EQ(describe(report), "");
    for (const float sum : out) ASSERT_EQ(sum, kDepth);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, RightWgmma, all_schedules(), schedule_name);

}  // namespace
}  // namespace rooftile::checked_testing
