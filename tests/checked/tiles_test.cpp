// TMA's stores, and its loads for a whole cluster: a missing wait or fence, a stage that another block still reads and the
// like are found, and named with their line; right kernels are not reported.
#include "tests/checked/tile_kernels.h"

#include "tests/checked/planted.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

const Planted<TileBug> kPlanted[] = {
    {TileBug::store_without_fence, "store_without_fence", FindingKind::missing_proxy_fence,
     "starts a tma_store that reads byte"},
    {TileBug::store_uninitialised, "store_uninitialised", FindingKind::uninitialised,
     "starts a tma_store that reads byte", "store"},
    {TileBug::store_overwritten, "store_overwritten", FindingKind::race, "an asynchronous copy read"},
    {TileBug::store_read_back_early, "store_read_back_early", FindingKind::race,
     "an asynchronous copy wrote"},
    {TileBug::store_not_committed, "store_not_committed", FindingKind::failure,
     "the block returned while the copy may still read its shared memory", "store"},
    {TileBug::multicast_not_waited, "multicast_not_waited", FindingKind::race, "an asynchronous copy wrote",
     "read"},
    {TileBug::multicast_over_other_block, "multicast_over_other_block", FindingKind::race,
     "of shared s_tile of block", "multicast"},
    {TileBug::multicast_to_itself_alone, "multicast_to_itself_alone", FindingKind::deadlock,
     "wait in mbarrier_wait", "wait"},
};

struct Memory {
  DeviceVector<unsigned short> in =
      DeviceVector<unsigned short>(std::size_t{kTileRounds} * kTileRows * kTileHalves, 1);
  DeviceVector<unsigned short> out = DeviceVector<unsigned short>(std::size_t{kTileRows} * kTileHalves);
  DeviceVector<float> sums = DeviceVector<float>(std::size_t{2} * kTileRows * kTileHalves);
  [[nodiscard]] std::vector<Buffer> buffers() const {
    return {input("in", in), output("out", out), output("sums", sums)};
  }
};

class Tiles : public PlantedBugs<TileBug> {};

TEST_P(Tiles, BugsAreFoundWithTheirLine) {
  Memory memory;
  expect_found_in("tile_kernels.cu", memory.buffers(), [&](TileBug bug) {
    return run_tile_bug(kStream, bug, memory.in.data(), memory.out.data(), memory.sums.data());
  });
}

INSTANTIATE_TEST_SUITE_P(Planted, Tiles, ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<TileBug>);

class RightTiles : public RightKernels {};

TEST_P(RightTiles, AreNotReported) {
  for (const TileBug right : {TileBug::none_store, TileBug::none_multicast}) {
    Memory memory;
    const Report report = watch({.metrics = std::get<1>(GetParam())}, memory.buffers(), [&] {
      return run_tile_bug(kStream, right, memory.in.data(), memory.out.data(), memory.sums.data());
    });
    EXPECT_EQ(describe(report), "") << static_cast<int>(right);
    if (right == TileBug::none_store) {
      for (std::size_t i = 0; i < memory.out.size(); ++i)
        EXPECT_EQ(memory.out[i], i / 64 + 1 + (i == 0 ? 1 : 0)) << i;
    } else {
      for (const float sum : memory.sums) EXPECT_EQ(sum, kTileRounds);
    }
  }
}

// 32 rows of 16 bytes in one run: 16 sectors, and 4 passes of the banks; a multicast reads global memory once for both.
TEST_P(RightTiles, AreCounted) {
  if (!std::get<1>(GetParam())) GTEST_SKIP() << "counts are made with metrics";
  const auto copies_of = [](TileBug right, MemorySpace space) {
    Memory memory;
    const Report report = watch({.metrics = true}, memory.buffers(), [&] {
      return run_tile_bug(kStream, right, memory.in.data(), memory.out.data(), memory.sums.data());
    });
    return report.total(space, AccessKind::async_copy);
  };
  EXPECT_EQ(copies_of(TileBug::none_store, MemorySpace::global).sectors, 16u);
  EXPECT_EQ(copies_of(TileBug::none_store, MemorySpace::shared).wavefronts, 4u);
  EXPECT_EQ(copies_of(TileBug::none_multicast, MemorySpace::global).sectors, 16u * kTileRounds);
  EXPECT_EQ(copies_of(TileBug::none_multicast, MemorySpace::shared).wavefronts, 2 * 4u * kTileRounds);
}

INSTANTIATE_TEST_SUITE_P(Schedules, RightTiles, all_schedules(), schedule_name);

}  // namespace
}  // namespace rooftile::checked_testing
