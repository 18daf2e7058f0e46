// Look-ahead passes against plain loops. Included by one test program per target.
#pragma once

#include <algorithm>
#include <optional>

#include "tests/device/sm90a_look_ahead.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

class Sm90aLookAhead : public ::testing::TestWithParam<Target<LookAheadKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }

  void expect_right(std::int64_t rows, std::int64_t tiles, unsigned blocks) {
    const auto count = static_cast<std::size_t>(rows * tiles);
    std::vector<std::uint32_t> in(count * kLookAheadTile);
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i] = static_cast<std::uint32_t>(i) * 2654435761u >> 16;  // a row adds up to less than 2^32
    }
    const DeviceArray<std::uint32_t> device_in(*context_, in);
    const DeviceArray<std::uint32_t> out(*context_, std::vector<std::uint32_t>(in.size()));
    const DeviceArray<std::uint64_t> parts(*context_, std::vector<std::uint64_t>(count * kLookAheadScanners));
    const DeviceArray<std::uint64_t> of_tiles(*context_, std::vector<std::uint64_t>(2 * count));
    const std::size_t zeroed = look_ahead_workspace(rows, tiles, 4).zeroed_bytes;
    const DeviceArray<std::byte> memory(*context_, std::vector<std::byte>(zeroed));
    Workspace workspace{};
    workspace.zeroed = memory.data();
    workspace.zeroed_bytes = zeroed;
    for (int launch = 0; launch < 2; ++launch) {  // the second finds the workspace as the first left it
      ASSERT_TRUE(is_ok(GetParam().kernels.sums(context_->stream(), device_in.data(), rows, tiles, blocks,
                                                workspace, parts.data(), of_tiles.data(), out.data())));
    }
    const std::vector<std::uint64_t> found_parts = parts.read();
    const std::vector<std::uint64_t> found_tiles = of_tiles.read();
    const std::vector<std::uint32_t> found = out.read();
    constexpr int kPart = kLookAheadTile / kLookAheadScanners;
    std::uint64_t running = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (i % (static_cast<std::size_t>(tiles) * kLookAheadTile) == 0) running = 1000;
      if (i % kPart == 0) {
        ASSERT_EQ(found_parts[i / kPart], running) << "part " << i / kPart;
      }
      if (i % kLookAheadTile == 0) {
        ASSERT_EQ(found_tiles[2 * (i / kLookAheadTile)], running);
      }
      running += in[i];
      if ((i + 1) % kLookAheadTile == 0) {
        const std::size_t tile = i / kLookAheadTile;
        ASSERT_EQ(found_tiles[2 * tile] + found_tiles[2 * tile + 1], running) << "tile " << tile;
      }
      ASSERT_EQ(found[i], in[i] + 1) << i;
    }
    const std::vector<std::byte> left = memory.read();
    EXPECT_TRUE(std::all_of(left.begin(), left.end(), [](std::byte b) { return b == std::byte{0}; }));
  }

  std::optional<Context> context_;
};

TEST_P(Sm90aLookAhead, OneTile) { expect_right(1, 1, 1); }
TEST_P(Sm90aLookAhead, FewerTilesThanStages) { expect_right(1, 3, 1); }
TEST_P(Sm90aLookAhead, OneBlockGoesRoundItsRing) { expect_right(1, 23, 1); }
TEST_P(Sm90aLookAhead, BlocksShareTiles) { expect_right(1, 50, 4); }
TEST_P(Sm90aLookAhead, GroupsOfTotals) {
  for (const std::int64_t tiles : {127, 128, 129, 400}) expect_right(1, tiles, 3);
}
TEST_P(Sm90aLookAhead, RowsByThemselves) {
  expect_right(9, 1, 4);
  expect_right(5, 7, 3);
  expect_right(3, 130, 4);
}

}  // namespace rooftile::testing_sm90a
