// CUDA's C++ library and cooperative groups: what is not waited for, not acquired or released too early is
// found at its line; right kernels are not reported.
#include "tests/checked/libcu_kernels.h"

#include "tests/checked/planted.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

const Planted<LibraryBug> kPlanted[] = {
    {LibraryBug::consumer_wait_left_out, "consumer_wait_left_out", FindingKind::race,
     "an asynchronous copy wrote"},
    {LibraryBug::released_early, "released_early", FindingKind::race, "of shared s_tiles"},
    {LibraryBug::acquire_left_out, "acquire_left_out", FindingKind::race, "of shared s_tiles"},
    {LibraryBug::thread_wait_left_out, "thread_wait_left_out", FindingKind::race,
     "an asynchronous copy wrote"},
    {LibraryBug::primitives_not_waited, "primitives_not_waited", FindingKind::race,
     "an asynchronous copy wrote"},
    {LibraryBug::barrier_not_waited, "barrier_not_waited", FindingKind::race, "of shared s_values"},
    {LibraryBug::barrier_copy_not_waited, "barrier_copy_not_waited", FindingKind::race,
     "an asynchronous copy wrote"},
    {LibraryBug::group_copy_not_waited, "group_copy_not_waited", FindingKind::race,
     "an asynchronous copy wrote"},
    {LibraryBug::atomic_relaxed, "atomic_relaxed", FindingKind::race, "which thread (0,0,0) wrote",
     "atomic_handover"},
    {LibraryBug::atomic_fence_left_out, "atomic_fence_left_out", FindingKind::race,
     "which thread (0,0,0) wrote", "atomic_handover"},
    {LibraryBug::group_of_too_few, "group_of_too_few", FindingKind::race, "of shared s_values"},
    {LibraryBug::plain_beside_atomic, "plain_beside_atomic", FindingKind::race, "byte 0 of out"},
};

const LibraryBug kRight[] = {
    LibraryBug::none_pipeline,   LibraryBug::none_roles,   LibraryBug::none_thread_pipeline,
    LibraryBug::none_primitives, LibraryBug::none_barrier, LibraryBug::none_barrier_copy,
    LibraryBug::none_group_copy, LibraryBug::none_atomic,  LibraryBug::none_atomic_fences,
    LibraryBug::none_group_sync,
};

struct Memory {
  DeviceVector<int> in = DeviceVector<int>(512, 1);
  DeviceVector<int> out = DeviceVector<int>(64);
  [[nodiscard]] std::vector<Buffer> buffers() const { return {input("in", in), output("out", out)}; }
  Report watch_bug(LibraryBug bug, const SessionOptions& options, Status* status = nullptr) {
    return watch(
        options, buffers(), [&] { return run_library_bug(kStream, bug, in.data(), out.data()); }, status);
  }
};

class LibraryBugs : public PlantedBugs<LibraryBug> {};

TEST_P(LibraryBugs, AreFoundWithTheirLine) {
  Memory memory;
  expect_found_in("libcu_kernels.cu", memory.buffers(), [&](LibraryBug bug) {
    return run_library_bug(kStream, bug, memory.in.data(), memory.out.data());
  });
}

INSTANTIATE_TEST_SUITE_P(Planted, LibraryBugs,
                         ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<LibraryBug>);

class RightLibrary : public RightKernels {};

TEST_P(RightLibrary, IsNotReported) {
  for (const LibraryBug right : kRight) {
    Memory memory;
    const Report report = memory.watch_bug(right, {.metrics = std::get<1>(GetParam())});
    EXPECT_EQ(describe(report), "") << static_cast<int>(right);
  }
}

// Each of the waits of the right kernels, left out; of a fresh ring the producer's, too.
TEST_P(RightLibrary, NeedsEachWait) {
  for (const LibraryBug right :
       {LibraryBug::none_pipeline, LibraryBug::none_roles, LibraryBug::none_thread_pipeline,
        LibraryBug::none_primitives, LibraryBug::none_barrier, LibraryBug::none_barrier_copy,
        LibraryBug::none_group_copy}) {
    Memory memory;
    int waits = 0;
    for (const auto& sync : memory.watch_bug(right, {}).syncs) {
      if (!sync.name.ends_with(" wait")) continue;
      ++waits;
      EXPECT_EQ(sync.at.file, "tests/checked/libcu_kernels.cu") << to_string(sync.at);
      Status status;
      const Report mutant = memory.watch_bug(right, {.disabled = {sync.at}}, &status);
      EXPECT_FALSE(mutant.findings.empty())
          << static_cast<int>(right) << ": " << sync.name << " at " << to_string(sync.at);
    }
    EXPECT_GE(waits, 1) << static_cast<int>(right);
  }
}

// 64 ints by 16 lanes of 16 bytes: 8 sectors of 32 bytes in one request, at the line that asked for them.
TEST_P(RightLibrary, CopiesAreCounted) {
  if (!std::get<1>(GetParam())) GTEST_SKIP() << "counts are made with metrics";
  Memory memory;
  const Report report = memory.watch_bug(LibraryBug::none_group_copy, {.metrics = true});
  const AccessCounts global = report.total(MemorySpace::global, AccessKind::async_copy);
  EXPECT_EQ(global.requests, 1u);
  EXPECT_EQ(global.lanes, 16u);
  EXPECT_EQ(global.sectors, 8u);
  EXPECT_EQ(report.total(MemorySpace::shared, AccessKind::async_copy).wavefronts, 2u);
  for (const auto& site : report.accesses) {
    if (site.kind != AccessKind::async_copy) continue;
    EXPECT_EQ(site.at.file, "tests/checked/libcu_kernels.cu");
    EXPECT_NE(simt::checked::source_text(site.at).find("cg::memcpy_async("), std::string::npos)
        << to_string(site.at);
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, RightLibrary, all_schedules(), schedule_name);

class DeviceBarriers : public ::testing::TestWithParam<simt::LaneOrder> {
 protected:
  void TearDown() override { ASSERT_TRUE(is_ok(simt::set_executor_config({}))); }
};

TEST_P(DeviceBarriers, OrderBlocks) {
  for (const bool waits : {true, false}) {
    for (const int workers : {1, 2}) {
      ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 5, .workers = workers})));
      DeviceVector<std::uint64_t> barrier(2);
      DeviceVector<int> values(2);
      DeviceVector<int> out(2);
      const Report report = watch(
          {}, {input("barrier", barrier), output("values", values), output("out", out)},
          [&] { return run_device_barrier(kStream, waits, barrier.data(), values.data(), out.data()); });
      if (waits) {
        EXPECT_EQ(describe(report), "");
      } else {
        const Planted<LibraryBug> planted{LibraryBug::none_barrier, "device_barrier_not_waited",
                                          FindingKind::race, "of values"};
        expect_found(report, planted, "libcu_kernels.cu");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, DeviceBarriers, simt::every_lane_order(), simt::lane_order_name);

}  // namespace
}  // namespace rooftile::checked_testing
