// Theory is met exactly.
#include <numeric>

#include "rooftile/sim/checked/source_lines.h"
#include "tests/checked/checked_test.h"

namespace rooftile::checked_testing {
namespace {

using namespace checked::checked_tests;

constexpr SessionOptions kMetrics{.metrics = true};

class Metrics : public ::testing::TestWithParam<simt::LaneOrder> {
 protected:
  void SetUp() override { ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 7}))); }

  static DeviceVector<float> ramp(std::size_t n) {
    DeviceVector<float> values(n);
    std::iota(values.begin(), values.end(), 0.0f);
    return values;
  }
};

TEST_P(Metrics, FloatCopySectorsByStride) {
  constexpr unsigned kBlocks = 3;
  for (const auto& [stride, sectors] :
       std::vector<std::pair<int, double>>{{1, 4}, {2, 8}, {4, 16}, {8, 32}, {32, 32}}) {
    const DeviceVector<float> in = ramp(std::size_t{kBlocks} * 256 * static_cast<std::size_t>(stride));
    DeviceVector<float> out(in.size());
    const Report report = watch(kMetrics, {input("in", in), output("out", out)}, [&, s = stride] {
      return run_strided_copy(kStream, kBlocks, s, in.data(), out.data());
    });
    for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
      const AccessCounts counts = report.total(MemorySpace::global, kind);
      EXPECT_EQ(counts.requests, kBlocks * 8u) << stride;
      EXPECT_DOUBLE_EQ(counts.sectors_per_request(), sectors) << stride;
      EXPECT_DOUBLE_EQ(counts.ideal_sectors_per_request(), 4) << stride;
      EXPECT_EQ(counts.lane_stride, 4 * stride);
      EXPECT_DOUBLE_EQ(counts.lanes_per_request(), 32);
    }
    EXPECT_EQ(describe(report), "");
    ASSERT_EQ(report.kernels.size(), 1u);
    EXPECT_EQ(report.kernels[0].name, "strided_copy_kernel");
    EXPECT_FALSE(report.kernels[0].at_once);
  }
}

TEST_P(Metrics, Float4CopyMovesSixteenSectors) {
  const DeviceVector<float> in(1024);
  DeviceVector<float> out(1024);
  const Report report = watch(kMetrics, {input("in", in), output("out", out)},
                              [&] { return run_float4_copy(kStream, 1, in.data(), out.data()); });
  for (const AccessKind kind : {AccessKind::load, AccessKind::store}) {
    const AccessCounts counts = report.total(MemorySpace::global, kind);
    EXPECT_EQ(counts.requests, 8u);
    EXPECT_EQ(counts.lane_bytes, 16u);
    EXPECT_DOUBLE_EQ(counts.sectors_per_request(), 16);
    EXPECT_DOUBLE_EQ(counts.ideal_sectors_per_request(), 16);
  }
  EXPECT_DOUBLE_EQ(report.bytes_moved(), 2.0 * 256 * 16);
}

TEST_P(Metrics, Transposes) {
  struct Expected {
    Transpose kind;
    double store_sectors;
    double load_conflict;
    std::uint64_t shared_requests;
  };
  for (const Expected& expected :
       {Expected{Transpose::naive, 32, 0, 0}, Expected{Transpose::tiled, 4, 32, 512},
        Expected{Transpose::padded, 4, 1, 512}}) {
    constexpr int kN = 128;
    const DeviceVector<float> in(std::size_t{kN} * kN);
    DeviceVector<float> out(std::size_t{kN} * kN);
    const Report report = watch(kMetrics, {input("in", in), output("out", out)}, [&] {
      return run_transpose(kStream, expected.kind, kN, in.data(), out.data());
    });
    EXPECT_EQ(describe(report), "");
    EXPECT_DOUBLE_EQ(report.total(MemorySpace::global, AccessKind::load).sectors_per_request(), 4);
    EXPECT_DOUBLE_EQ(report.total(MemorySpace::global, AccessKind::store).sectors_per_request(),
                     expected.store_sectors);
    const AccessCounts loads = report.total(MemorySpace::shared, AccessKind::load);
    EXPECT_EQ(loads.requests, expected.shared_requests);
    EXPECT_DOUBLE_EQ(loads.conflict_degree(), expected.load_conflict);
    EXPECT_EQ(loads.worst_conflict, static_cast<unsigned>(expected.load_conflict));
    const AccessCounts stores = report.total(MemorySpace::shared, AccessKind::store);
    EXPECT_DOUBLE_EQ(stores.conflict_degree(), expected.shared_requests > 0 ? 1 : 0);
    // Twice the matrix, and eight times for the stores that use 4 bytes of each sector.
    EXPECT_DOUBLE_EQ(report.bytes_moved(), 4.0 * kN * kN * (1 + expected.store_sectors / 4));
  }
}

// Loads 8 x 32 lanes of each kind; in the tree 8 warps with 16, 8, 4, 2 and 1 lanes, then 4, 2 and 1 warps
// with one: 47 warps and 255 lanes, three times; then one lane reads and writes the sum.
TEST_P(Metrics, DivergentReduceByHand) {
  const DeviceVector<float> in(256);
  float sum = 0;
  const Report report = watch(kMetrics, {input("in", in), {"out", &sum, sizeof sum}},
                              [&] { return run_divergent_reduce(kStream, in.data(), &sum); });
  EXPECT_EQ(report.total(MemorySpace::shared, AccessKind::load).requests, 2u * 47 + 1);
  EXPECT_EQ(report.total(MemorySpace::shared, AccessKind::load).lanes, 2u * 255 + 1);
  EXPECT_EQ(report.total(MemorySpace::shared, AccessKind::store).requests, 8u + 47);
  EXPECT_EQ(report.total(MemorySpace::shared, AccessKind::store).lanes, 256u + 255);
  EXPECT_EQ(report.total().requests, 8u + 8 + 3 * 47 + 1 + 1);
  EXPECT_DOUBLE_EQ(report.total().lanes_per_request(), (256.0 + 256 + 3 * 255 + 1 + 1) / 159);
  EXPECT_LT(static_cast<double>(report.basic_block_lanes), 32.0 * static_cast<double>(report.basic_blocks));
}

TEST_P(Metrics, AtomicsOfOneAddressAreCounted) {
  for (const auto& [counters, multiplicity] : {std::pair{1, 32u}, std::pair{4, 8u}, std::pair{32, 1u}}) {
    std::vector<int> values(32);
    const Report report = watch(kMetrics, {input("counters", values)},
                                [&, c = counters] { return run_atomic_add(kStream, c, values.data()); });
    const AccessCounts atomics = report.total(MemorySpace::global, AccessKind::atomic);
    EXPECT_EQ(atomics.requests, 8u);
    EXPECT_DOUBLE_EQ(atomics.mean_multiplicity(), multiplicity);
    EXPECT_EQ(atomics.worst_multiplicity, multiplicity);
    EXPECT_EQ(report.total().requests, 8u) << "an atomic is one request, not a read and a write";
    EXPECT_EQ(values[0], 256 / counters);
  }
}

// Its compare-and-exchange loop starts from a load, which the GPU's instruction does not make.
TEST_P(Metrics, TheTicketOfTheLastBlockIsOneAtomic) {
  // Blocks that run at once meet at the ticket, and their retries are counted.
  ASSERT_TRUE(is_ok(simt::set_executor_config({.order = GetParam(), .seed = 7, .workers = 1})));
  constexpr unsigned kBlocks = 3;
  std::vector<int> values(kBlocks);
  std::vector<unsigned> tickets(1);
  std::vector<int> out(kBlocks);
  const Report report =
      watch(kMetrics, {output("values", values), input("tickets", tickets), output("out", out)}, [&] {
        return run_handover(kStream, Handover::ticket, kBlocks, values.data(), tickets.data(), out.data());
      });
  EXPECT_EQ(report.total(MemorySpace::global, AccessKind::atomic).requests, kBlocks);
  EXPECT_EQ(report.total(MemorySpace::global, AccessKind::load).requests, 1u)
      << "the last block reads the values";
  EXPECT_EQ(report.total(MemorySpace::global, AccessKind::store).requests, kBlocks + 1);
  EXPECT_EQ(describe(report), "");
}

// The table is by source line: the numbers stand beside the statement that made them.
TEST_P(Metrics, LinesAreThoseOfTheStatements) {
  const DeviceVector<float> in(std::size_t{32} * 32);
  DeviceVector<float> out(std::size_t{32} * 32);
  const Report report = watch(kMetrics, {input("in", in), output("out", out)}, [&] {
    return run_transpose(kStream, Transpose::padded, 32, in.data(), out.data());
  });
  std::vector<std::string> seen;
  for (const auto& line : report.accesses) {
    seen.push_back(std::string(to_string(line.space)) + " " + to_string(line.kind) + ": " +
                   simt::checked::source_text(line.at));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "global load: s_tile[r][x] = g_in[(row + r) * n + column + x];",
                      "shared store: s_tile[r][x] = g_in[(row + r) * n + column + x];",
                      "global store: g_out[(column + r) * n + row + x] = s_tile[x][r];",
                      "shared load: g_out[(column + r) * n + row + x] = s_tile[x][r];",
                  }));
  ASSERT_EQ(report.syncs.size(), 1u);
  EXPECT_EQ(report.syncs[0].name, "__syncthreads");
  EXPECT_EQ(simt::checked::source_text(report.syncs[0].at), "__syncthreads();  // the tile is complete");
  EXPECT_EQ(report.syncs[0].count, 1u);
}

TEST_P(Metrics, KernelsAreInstrumentedAndThisTestIsNot) {
  const std::uint64_t before = simt::checked::instrumentation_calls();
  std::vector<float> values(4096, 1.0f);
  float sum = 0;
  for (const float value : values) sum += value;
  EXPECT_EQ(sum, 4096.0f);
  EXPECT_EQ(simt::checked::instrumentation_calls(), before);

  const DeviceVector<float> in(256);
  const auto run = [&] { return run_divergent_reduce(kStream, in.data(), &sum); };
  const Report report = watch({}, {}, run);
  EXPECT_GE(report.instrumented_accesses, 256u + 256 + 3 * 255 + 2);
  ASSERT_TRUE(is_ok(run()));  // unwatched: the same kernel counts as what it is
  EXPECT_GT(simt::checked::instrumentation_calls(), before);
}

INSTANTIATE_TEST_SUITE_P(Orders, Metrics, simt::every_lane_order(), simt::lane_order_name);

}  // namespace
}  // namespace rooftile::checked_testing
