// Asynchronous copies: a missing wait, a slot that is filled again too early, a missing proxy fence and the
// like are found, and named with their line; right kernels are not reported.
#include "tests/checked/planted.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

const Planted<CopyBug> kPlanted[] = {
    {CopyBug::cp_async_not_waited, "cp_async_not_waited", FindingKind::race, "an asynchronous copy wrote"},
    {CopyBug::cp_async_without_barrier, "cp_async_without_barrier", FindingKind::race, "of shared s_values"},
    {CopyBug::cp_async_refilled_early, "cp_async_refilled_early", FindingKind::race,
     "starts a cp.async that writes"},
    {CopyBug::cp_async_newest_group, "cp_async_newest_group", FindingKind::race,
     "an asynchronous copy wrote"},
    {CopyBug::mbarrier_not_announced, "mbarrier_not_announced", FindingKind::race, "of shared s_full"},
    {CopyBug::copy_not_announced, "copy_not_announced", FindingKind::race, "of shared s_full"},
    {CopyBug::global_written_without_fence, "global_written_without_fence", FindingKind::missing_proxy_fence,
     "starts a bulk_load that reads byte 0 of out"},
    {CopyBug::bulk_load_behind, "bulk_load_behind", FindingKind::out_of_bounds,
     "starts a bulk_load that reads byte 256 of in, which has 256 bytes"},
    {CopyBug::bulk_load_uninitialised, "bulk_load_uninitialised", FindingKind::uninitialised,
     "starts a bulk_load that reads byte 0 of out, which nobody has written"},
    {CopyBug::bulk_load_over_written, "bulk_load_over_written", FindingKind::missing_proxy_fence,
     "starts a bulk_load that writes byte 0 of shared s_values"},
    {CopyBug::bulk_load_not_waited, "bulk_load_not_waited", FindingKind::race, "an asynchronous copy wrote"},
    {CopyBug::bulk_load_refilled_early, "bulk_load_refilled_early", FindingKind::race, "of shared s_values"},
    {CopyBug::store_uninitialised, "store_uninitialised", FindingKind::uninitialised,
     "starts a bulk_store that reads"},
    {CopyBug::store_without_fence, "store_without_fence", FindingKind::missing_proxy_fence,
     "which thread (7,0,0) wrote and did not follow with fence_proxy_async"},
    {CopyBug::fence_behind_barrier, "fence_behind_barrier", FindingKind::missing_proxy_fence,
     "wrote and did not follow with fence_proxy_async", "store_without_fence"},
    {CopyBug::store_overwritten, "store_overwritten", FindingKind::race, "an asynchronous copy read"},
    {CopyBug::store_read_back_early, "store_read_back_early", FindingKind::race,
     "an asynchronous copy wrote"},
    {CopyBug::phase_not_complete, "phase_not_complete", FindingKind::race, "which thread (0,0,0) wrote"},
    {CopyBug::mbarrier_never_complete, "mbarrier_never_complete", FindingKind::deadlock,
     "wait in mbarrier_wait (phase 0: 1 of 3 arrivals"},
};

const CopyBug kRight[] = {CopyBug::none_cp_async,     CopyBug::none_bulk_load,  CopyBug::none_global_written,
                          CopyBug::none_over_written, CopyBug::none_bulk_store, CopyBug::none_written_twice,
                          CopyBug::none_phases};

struct Memory {
  DeviceVector<int> in = DeviceVector<int>(192, 1);
  DeviceVector<int> out = DeviceVector<int>(192);
  [[nodiscard]] std::vector<Buffer> buffers() const {
    return {{"in", &in[64], 256, true, true}, {"out", &out[64], 256, false}};
  }
};

class Copies : public PlantedBugs<CopyBug> {};

TEST_P(Copies, BugsAreFoundWithTheirLine) {
  Memory memory;
  const CopyBug planted = std::get<0>(GetParam()).bug;
  const auto launch = [&](CopyBug bug) {
    return run_copy_bug(kStream, bug, &memory.in[64], &memory.out[64]);
  };
  const Report report = report_of(memory.buffers(), launch);
  if (planted == CopyBug::mbarrier_not_announced && !status().ok()) {
    // Who comes first finds no mbarrier at all.
    EXPECT_NE(status().message().find("holds no initialised mbarrier"), std::string::npos)
        << status().message();
    return;
  }
  expect_found(report, std::get<0>(GetParam()), "copy_kernels.cu");
}

INSTANTIATE_TEST_SUITE_P(Planted, Copies, ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<CopyBug>);

class RightCopies : public RightKernels {};

TEST_P(RightCopies, AreNotReported) {
  for (const CopyBug right : kRight) {
    Memory memory;
    const Report report = watch({.metrics = std::get<1>(GetParam())}, memory.buffers(), [&] {
      return run_copy_bug(kStream, right, &memory.in[64], &memory.out[64]);
    });
    EXPECT_EQ(describe(report), "") << static_cast<int>(right);
  }
}

// Each of the waits and fences of the right kernels, left out.
TEST_P(RightCopies, EachWaitAndFenceIsNeeded) {
  for (const CopyBug right : {CopyBug::none_cp_async, CopyBug::none_bulk_load, CopyBug::none_bulk_store}) {
    Memory memory;
    const auto run = [&] { return run_copy_bug(kStream, right, &memory.in[64], &memory.out[64]); };
    const Report report = watch({}, memory.buffers(), run);
    int waits = 0;
    for (const auto& sync : report.syncs) {
      if (!sync.name.ends_with(" wait") && sync.name != "proxy fence") continue;
      ++waits;
      Status status;
      const Report mutant = watch({.disabled = {sync.at}}, memory.buffers(), run, &status);
      EXPECT_FALSE(mutant.findings.empty()) << sync.name << " at " << to_string(sync.at);
    }
    EXPECT_GE(waits, 2) << static_cast<int>(right);
  }
}

// 64 ints in two warps, and as a single copy: 8 sectors of 32 bytes, 2 passes of the banks.
TEST_P(RightCopies, AreCounted) {
  if (!std::get<1>(GetParam())) GTEST_SKIP() << "counts are made with metrics";
  const auto copies_of = [](CopyBug right, MemorySpace space) {
    Memory memory;
    const Report report = watch({.metrics = true}, memory.buffers(), [&] {
      return run_copy_bug(kStream, right, &memory.in[64], &memory.out[64]);
    });
    return report.total(space, AccessKind::async_copy);
  };
  const AccessCounts by_warps = copies_of(CopyBug::none_cp_async, MemorySpace::global);  // twice
  EXPECT_EQ(by_warps.requests, 4u);
  EXPECT_EQ(by_warps.lanes, 128u);
  EXPECT_EQ(by_warps.sectors, 16u);
  EXPECT_EQ(copies_of(CopyBug::none_cp_async, MemorySpace::shared).wavefronts, 4u);
  const AccessCounts loads = copies_of(CopyBug::none_bulk_load, MemorySpace::global);  // twice
  EXPECT_EQ(loads.requests, 2u);
  EXPECT_EQ(loads.sectors, 16u);
  EXPECT_EQ(loads.ideal_sectors, 16u);
  EXPECT_EQ(copies_of(CopyBug::none_bulk_load, MemorySpace::shared).wavefronts, 4u);
  EXPECT_EQ(copies_of(CopyBug::none_bulk_store, MemorySpace::global).sectors, 8u);
  EXPECT_EQ(copies_of(CopyBug::none_bulk_store, MemorySpace::shared).wavefronts, 2u);
}

INSTANTIATE_TEST_SUITE_P(Schedules, RightCopies, all_schedules(), schedule_name);

}  // namespace
}  // namespace rooftile::checked_testing
