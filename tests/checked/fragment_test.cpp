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
    {FragmentBug::load_without_barrier, "load_without_barrier", FindingKind::race, "of shared s_rows",
     "load"},
    {FragmentBug::load_without_syncwarp, "load_without_syncwarp", FindingKind::race, "of shared s_rows",
     "load"},
    {FragmentBug::load_uninitialised, "load_uninitialised", FindingKind::uninitialised, "of shared s_rows",
     "load"},
    {FragmentBug::load_missing_lane, "load_missing_lane", FindingKind::deadlock, "wait in ldmatrix", "load"},
    {FragmentBug::store_over_read, "store_over_read", FindingKind::race, "of shared s_rows"},
    {FragmentBug::store_read_without_syncwarp, "store_read_without_syncwarp", FindingKind::race,
     "of shared s_rows", "store"},
};

class FragmentBugs : public PlantedBugs<FragmentBug> {};

TEST_P(FragmentBugs, AreFoundWithTheirLine) {
  Memory memory;
  expect_found_in("fragment_kernels.cu", memory.buffers(), [&](FragmentBug bug) {
    return run_fragment_bug(kStream, bug, memory.in.data(), memory.out.data());
  });
}

INSTANTIATE_TEST_SUITE_P(Planted, FragmentBugs,
                         ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<FragmentBug>);

class RightFragments : public RightKernels {};

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

TEST_P(RightFragments, RowsAreNotReported) {
  Memory memory;
  const Report report = watch({.metrics = std::get<1>(GetParam())}, memory.buffers(), [&] {
    return run_fragment_bug(kStream, FragmentBug::none_rows, memory.in.data(), memory.out.data());
  });
  EXPECT_EQ(describe(report), "");
}

// Eight rows of 16 bytes are one pass where their banks differ. Pitches in banks of 4 bytes: 4 (side by side), 8 (rows
// 0 and 4 meet), 12, 16, 20, 32 (all meet), 36.
TEST_P(RightFragments, RowsCostOnePassWhereTheirBanksDiffer) {
  if (!std::get<1>(GetParam())) GTEST_SKIP() << "counts are made with metrics";
  struct Pitch {
    unsigned bytes;
    unsigned passes;          // of eight rows
    unsigned passes_of_four;  // of every other row
  };
  constexpr Pitch kPitches[] = {{16, 1, 1}, {32, 2, 2},  {48, 1, 1}, {64, 4, 4},
                                {80, 1, 1}, {128, 8, 4}, {144, 1, 1}};
  for (const RowsOp op : {RowsOp::load, RowsOp::load_transposed, RowsOp::store, RowsOp::store_transposed}) {
    const bool loads = op == RowsOp::load || op == RowsOp::load_transposed;
    for (const auto& [pitch, passes, passes_of_four] : kPitches) {
      // Rows that two lanes name are read once, of each matrix by itself.
      for (const bool shared_rows : {false, true}) {
        if (shared_rows && !loads) continue;
        DeviceVector<unsigned> out(128);
        const Report report = watch({.metrics = true}, {output("out", out)}, [&, p = pitch] {
          return run_fragment_rows(kStream, op, p, shared_rows, out.data());
        });
        EXPECT_EQ(describe(report), "");
        AccessCounts counts;
        for (const auto& line : report.accesses) {
          if (simt::checked::source_text(line.at).ends_with("// the rows")) counts.add(line.counts);
        }
        EXPECT_EQ(counts.requests, 1u) << pitch;
        EXPECT_EQ(counts.lane_bytes, 16u) << pitch;
        EXPECT_DOUBLE_EQ(counts.lanes_per_request(), 32) << pitch;
        EXPECT_EQ(counts.ideal_wavefronts, 4u) << pitch;
        EXPECT_EQ(counts.wavefronts, 4u * (shared_rows ? passes_of_four : passes))
            << pitch << ", " << shared_rows;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, RightFragments, all_schedules(), schedule_name);

}  // namespace
}  // namespace rooftile::checked_testing
