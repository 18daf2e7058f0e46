// Rows through rings, of clusters and of the whole grid against plain loops. Included by one test program per target.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/device/sm90a_rows.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

class Sm90aRows : public ::testing::TestWithParam<Target<RowKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }

  static std::vector<std::uint32_t> words(std::size_t count) {
    std::vector<std::uint32_t> in(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::uint32_t>(i) * 2654435761u >> 7;
    return in;
  }

  // Rows `pitch` words apart, the first `skew` words behind a multiple of 16 bytes, a stage of every block for each of its
  // parts and `more` beside.
  void expect_right(std::int64_t rows, std::int64_t n, std::int64_t pitch, std::int64_t skew, int blocks,
                    int clusters, int more) {
    constexpr std::int64_t kStageVectors = ring_stage_bytes(kRowWarps) / 16;
    RowRingPlan plan{.blocks = blocks, .clusters = clusters, .part = ceil_div(ceil_div(n, 4), blocks)};
    plan.stages = static_cast<int>(larger(1, ceil_div(plan.part, kStageVectors))) + more;
    const std::vector<std::uint32_t> in = words(static_cast<std::size_t>(skew + rows * pitch));
    const DeviceArray<std::uint32_t> device_in(*context_, in);
    const DeviceArray<std::uint32_t> out(*context_, std::vector<std::uint32_t>(in.size(), 7));
    std::vector<std::uint32_t> expected(in.size(), 7);
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto* row = in.data() + skew + r * pitch;
      std::uint32_t total = n > 0 ? *std::max_element(row, row + n) : 0;
      for (std::int64_t j = 0; j < n; ++j) total += row[j];
      for (std::int64_t j = 0; j < n; ++j)
        expected[static_cast<std::size_t>(skew + r * pitch + j)] = row[j] + total;
    }
    ASSERT_TRUE(is_ok(GetParam().kernels.add_totals(context_->stream(), device_in.data() + skew, rows, n,
                                                    pitch, plan, out.data() + skew)));
    EXPECT_EQ(out.read(), expected);
    // In place.
    ASSERT_TRUE(is_ok(GetParam().kernels.add_totals(context_->stream(), device_in.data() + skew, rows, n,
                                                    pitch, plan, device_in.data() + skew)));
    for (std::size_t i = 0; i < in.size(); ++i)
      if (expected[i] == 7) expected[i] = in[i];
    EXPECT_EQ(device_in.read(), expected);
  }

  // To another place, then in place. Gives the shape that the cut has; -1: there is none.
  int expect_grid_right(int rows, int n, const DeviceProperties& device) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(n));
    const std::int64_t pitch = n + 8;
    const GridCut cut = grid_for(rows, ceil_div(n, 4), 0, device);
    EXPECT_GE(cut.shape, 0);
    if (cut.shape < 0) return cut.shape;
    const std::vector<std::uint32_t> in = words(static_cast<std::size_t>(rows * pitch));
    const DeviceArray<std::uint32_t> x(*context_, in);
    const DeviceArray<std::uint32_t> out(*context_, in);
    const DeviceArray<std::uint64_t> zeroed(
        *context_, std::vector<std::uint64_t>(grid_meeting_bytes(rows, kGridTakes, cut.blocks) / 8 + 1));
    std::vector<std::uint32_t> expected = in;
    for (int r = 0; r < rows; ++r) {
      auto* row = expected.data() + r * pitch;
      std::uint32_t total = r % 3 == 1 ? static_cast<std::uint32_t>(n) : 0;
      for (int j = 0; j < n; ++j) total += row[j];
      for (int j = 0; j < n; ++j) row[j] += total;
    }
    for (const auto* to : {&out, &x}) {
      EXPECT_TRUE(is_ok(GetParam().kernels.grid_sums(context_->stream(), x.data(), rows, n, pitch, cut,
                                                     zeroed.data(), to->data())));
      EXPECT_EQ(to->read(), expected);
      EXPECT_EQ(zeroed.read(), std::vector<std::uint64_t>(zeroed.read().size()));
    }
    return cut.shape;
  }

  std::optional<Context> context_;
};

TEST_P(Sm90aRows, OneStageForARow) { expect_right(5, 256, 256, 0, 1, 1, 0); }
TEST_P(Sm90aRows, TheNextRowsComeMeanwhile) { expect_right(9, 600, 604, 0, 1, 2, 3); }
TEST_P(Sm90aRows, RowsGoRoundTheRing) { expect_right(23, 1500, 1500, 0, 1, 3, 1); }
TEST_P(Sm90aRows, RowsBeginAndEndAnywhere) {
  for (std::int64_t skew = 0; skew < 4; ++skew) {
    for (const std::int64_t n : {8, 11, 259, 777}) expect_right(4, n, n + 1, skew, 1, 1, 1);
  }
}
TEST_P(Sm90aRows, BlocksOfAClusterShareRows) {
  for (const int blocks : {2, 3, 8}) {
    expect_right(7, 2000, 2000, 0, blocks, 1, 0);
    expect_right(7, 2001, 2003, 1, blocks, 2, 2);
  }
}

TEST_P(Sm90aRows, AClusterHasOneSum) {
  for (const unsigned blocks : {2u, 5u, 8u}) {
    const std::vector<std::uint32_t> in = words(blocks * kRowWarps * 32);
    const DeviceArray<std::uint32_t> device_in(*context_, in);
    const DeviceArray<std::uint32_t> sums(*context_, std::vector<std::uint32_t>(2 * in.size()));
    ASSERT_TRUE(
        is_ok(GetParam().kernels.cluster_sums(context_->stream(), device_in.data(), blocks, sums.data())));
    std::uint32_t sum = 0;
    for (const std::uint32_t word : in) sum += word;
    std::vector<std::uint32_t> expected;
    for (std::size_t i = 0; i < in.size(); ++i) {
      expected.push_back(sum);
      expected.push_back(sum + static_cast<std::uint32_t>(in.size()));
    }
    EXPECT_EQ(sums.read(), expected);
  }
}

// Parts of every shape, full and not; more rows than a block has groups of warps, and fewer. Of few rows each gets a shape of more threads.
TEST_P(Sm90aRows, TheGridSharesRows) {
  const DeviceProperties device = *device_properties(context_->device()).value();
  const std::int64_t blocks = smaller(device.multiprocessors, kMostGridBlocks);
  std::set<int> shapes;
  for (const RowShape& shape : kGridShapes) {
    const int groups = kGridThreads / shape.threads;
    const auto words_of_all = static_cast<int>(blocks * shape.capacity() * 4);
    for (const int rows : {groups + 2, groups > 1 ? groups - 1 : 1}) {
      shapes.insert(expect_grid_right(rows, words_of_all, device));
      shapes.insert(expect_grid_right(rows, words_of_all - 12, device));
    }
  }
  for (const int rows : {3, 6, 40}) shapes.insert(expect_grid_right(rows, 1028, device));
  EXPECT_EQ(shapes.size(), kGridShapes.size());
}

}  // namespace rooftile::testing_sm90a
