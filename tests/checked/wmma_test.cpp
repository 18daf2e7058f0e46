// What matrix operations cost, by hand, and the bugs that are found in them.
#include "tests/checked/wmma_kernels.h"

#include "tests/checked/planted.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

class WmmaMetrics : public ::testing::TestWithParam<simt::LaneOrder> {
 protected:
  void SetUp() override { ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 7}))); }

  static Report run(WmmaTile tile, bool in_shared, unsigned ldm) {
    const DeviceVector<float> matrix(std::size_t{16} * ldm);
    DeviceVector<float> out(std::size_t{16} * ldm);
    Report report = watch({.metrics = true}, {input("matrix", matrix), output("out", out)}, [&] {
      return run_wmma_tile(kStream, tile, in_shared, ldm, matrix.data(), out.data());
    });
    EXPECT_EQ(describe(report), "");
    return report;
  }

  // Of the line with this comment.
  static AccessCounts of_line(const Report& report, MemorySpace space, AccessKind kind, const char* comment) {
    AccessCounts counts;
    for (const auto& line : report.accesses) {
      const bool is_line = simt::checked::source_text(line.at).ends_with(comment);
      if (line.space == space && line.kind == kind && is_line) counts.add(line.counts);
    }
    return counts;
  }
  static AccessCounts load_of(WmmaTile tile, bool in_shared, unsigned ldm) {
    return of_line(run(tile, in_shared, ldm), in_shared ? MemorySpace::shared : MemorySpace::global,
                   AccessKind::load, "// the tile");
  }
};

// Eight rows of 16 bytes are one pass where their banks differ. Strides in banks of 4 bytes: 8 (rows 0 and 4
// meet), 12, 32 (all meet), 36.
struct Stride {
  unsigned ldm;
  double conflict;
};
constexpr Stride kStridesOf16Bits[] = {{16, 2}, {24, 1}, {64, 8}, {72, 1}};

TEST_P(WmmaMetrics, HalvesComeFromSharedMemoryByOneLdmatrix) {
  for (const WmmaTile tile : {WmmaTile::half_a, WmmaTile::half_a_transposed, WmmaTile::half_b}) {
    for (const auto& [ldm, conflict] : kStridesOf16Bits) {
      const AccessCounts counts = load_of(tile, true, ldm);
      EXPECT_EQ(counts.requests, 1u) << ldm;
      EXPECT_EQ(counts.lane_bytes, 16u) << ldm;
      EXPECT_DOUBLE_EQ(counts.lanes_per_request(), 32) << ldm;
      EXPECT_DOUBLE_EQ(counts.conflict_degree(), conflict) << ldm;
      EXPECT_EQ(counts.wavefronts, static_cast<std::uint64_t>(4 * conflict)) << ldm;
    }
  }
}

TEST_P(WmmaMetrics, Bfloat16ComesFromSharedMemoryByWords) {
  for (const auto& [ldm, conflict] : kStridesOf16Bits) {
    const AccessCounts counts = load_of(WmmaTile::bfloat16_a, true, ldm);
    EXPECT_EQ(counts.requests, 4u) << ldm;
    EXPECT_EQ(counts.lane_bytes, 4u) << ldm;
    EXPECT_DOUBLE_EQ(counts.conflict_degree(), conflict) << ldm;
  }
}

// Two tiles of 8 rows with 16 lanes: strides of 4 and 8 banks.
TEST_P(WmmaMetrics, BytesComeFromSharedMemoryByHalfAnLdmatrix) {
  for (const auto& [ldm, conflict] : {Stride{16, 1}, Stride{32, 2}}) {
    const AccessCounts counts = load_of(WmmaTile::byte_a, true, ldm);
    EXPECT_EQ(counts.requests, 1u) << ldm;
    EXPECT_DOUBLE_EQ(counts.lanes_per_request(), 16) << ldm;
    EXPECT_DOUBLE_EQ(counts.conflict_degree(), conflict) << ldm;
  }
}

// A half-warp has four rows of 8 floats. Strides in banks: 16 (rows 0 and 2 meet), 24.
TEST_P(WmmaMetrics, SumsMoveByPairs) {
  for (const auto& [ldm, conflict] : {Stride{16, 2}, Stride{24, 1}}) {
    const Report report = run(WmmaTile::float_sum, true, ldm);
    const AccessCounts loads = of_line(report, MemorySpace::shared, AccessKind::load, "// the tile");
    const AccessCounts stores = of_line(report, MemorySpace::shared, AccessKind::store, "// the sums");
    for (const AccessCounts& counts : {loads, stores}) {
      EXPECT_EQ(counts.requests, 4u) << ldm;
      EXPECT_EQ(counts.lane_bytes, 8u) << ldm;
      EXPECT_DOUBLE_EQ(counts.conflict_degree(), conflict) << ldm;
    }
  }
}

TEST_P(WmmaMetrics, GlobalMemoryIsReadByWords) {
  // Eight rows of 16 bytes: half of eight sectors.
  for (const WmmaTile tile : {WmmaTile::half_a, WmmaTile::half_a_transposed, WmmaTile::bfloat16_a}) {
    const AccessCounts counts = load_of(tile, false, 16);
    EXPECT_EQ(counts.requests, 4u);
    EXPECT_EQ(counts.lane_bytes, 4u);
    EXPECT_DOUBLE_EQ(counts.sectors_per_request(), 8);
    EXPECT_DOUBLE_EQ(counts.ideal_sectors_per_request(), 4);
  }
  // Eight rows of 32 bytes.
  const Report report = run(WmmaTile::float_sum, false, 16);
  const AccessCounts stores = of_line(report, MemorySpace::global, AccessKind::store, "// the sums");
  EXPECT_EQ(stores.requests, 4u);
  EXPECT_DOUBLE_EQ(stores.sectors_per_request(), 8);
  EXPECT_DOUBLE_EQ(stores.ideal_sectors_per_request(), 8);
}

TEST_P(WmmaMetrics, ProductsAreCountedAndOrderNothing) {
  const std::vector<unsigned short> in_values(256);
  const DeviceVector<unsigned short> in(in_values.begin(), in_values.end());
  DeviceVector<float> out(512);
  const Report report = watch({.metrics = true}, {input("in", in), output("out", out)},
                              [&] { return run_wmma_bug(kStream, WmmaBug::none, in.data(), out.data()); });
  EXPECT_EQ(describe(report), "");
  std::uint64_t products = 0;
  for (const auto& sync : report.syncs) {
    EXPECT_TRUE(sync.name == "mma_sync" || sync.name == "__syncthreads") << sync.name;
    if (sync.name == "mma_sync") products += sync.count;
  }
  EXPECT_EQ(products, 2u);  // one of each warp
}

INSTANTIATE_TEST_SUITE_P(Orders, WmmaMetrics, simt::every_lane_order(), simt::lane_order_name);

const Planted<WmmaBug> kPlanted[] = {
    {WmmaBug::load_without_barrier, "load_without_barrier", FindingKind::race, "of shared s_tile"},
    {WmmaBug::load_without_syncwarp, "load_without_syncwarp", FindingKind::race, "of shared s_tile"},
    {WmmaBug::store_without_barrier, "store_without_barrier", FindingKind::race, "of shared s_sum"},
    {WmmaBug::uninitialised_tile, "uninitialised_tile", FindingKind::uninitialised, "of shared s_tile"},
    {WmmaBug::load_behind, "load_behind", FindingKind::out_of_bounds, "of in, which has 512 bytes"},
    {WmmaBug::store_behind, "store_behind", FindingKind::out_of_bounds, "of out, which has 2048 bytes"},
    {WmmaBug::missing_lane, "missing_lane", FindingKind::deadlock, "wmma::mma_sync"},
};

// Guards behind what the kernels may touch, so that a bug meets memory of ours.
struct Memory {
  DeviceVector<unsigned short> in = DeviceVector<unsigned short>(512, 0x3c00);
  DeviceVector<float> out = DeviceVector<float>(1024);
  [[nodiscard]] std::vector<Buffer> buffers() const {
    return {{"in", in.data(), 512, true}, {"out", out.data(), 2048, false}};
  }
};

class WmmaBugs : public PlantedBugs<WmmaBug> {};

TEST_P(WmmaBugs, AreFoundWithTheirLine) {
  Memory memory;
  expect_found_in("wmma_kernels.cu", memory.buffers(), [&](WmmaBug bug) {
    return run_wmma_bug(kStream, bug, memory.in.data(), memory.out.data());
  });
}

INSTANTIATE_TEST_SUITE_P(Planted, WmmaBugs,
                         ::testing::Combine(::testing::ValuesIn(kPlanted), all_schedules()),
                         planted_name<WmmaBug>);

TEST(NoWmmaBug, NothingIsReported) {
  Memory memory;
  const Report report = watch({}, memory.buffers(), [&] {
    return run_wmma_bug(kStream, WmmaBug::none, memory.in.data(), memory.out.data());
  });
  EXPECT_EQ(describe(report), "");
}

}  // namespace
}  // namespace rooftile::checked_testing
