// Rows split over blocks of their own against plain loops.
#include <set>
#include <utility>

#include "tests/device/blocks/block_testing.h"
#include "tests/device/blocks/split_row_kernels.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

constexpr int kWords = 4;  // of a vector

class SplitRows : public BlockTest {
 protected:
  // To another place, then in place. Gives the shape that the cut has; -1: there is none. skew: words in front of the first row, of
  // which no row is whole; -1: all are.
  int expect_right(int rows, int n, int skew = -1) {
    SCOPED_TRACE(testing::Message() << rows << " x " << n << ", skew " << skew);
    const bool is_whole = skew < 0;
    const auto covering = is_whole ? n / kWords : static_cast<int>(ceil_div(n + kWords - 1, kWords));
    const SplitCut cut = split_for(kSplitTestShapes, rows, covering, 0, properties());
    if (cut.shape < 0) return cut.shape;
    const auto first = static_cast<std::size_t>(is_whole ? 0 : skew);
    const std::int64_t pitch = n + (is_whole ? 2 * kWords : kWords + 1);
    std::vector<std::uint32_t> in(first + static_cast<std::size_t>(rows * pitch));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint32_t>(i) * 2654435761u >> 7;
    std::vector<std::uint32_t> expected = in;
    for (int r = 0; r < rows; ++r) {
      auto* row = expected.data() + first + r * pitch;
      std::uint32_t total = r % 3 == 1 ? static_cast<std::uint32_t>(n) : 0;
      for (int j = 0; j < n; ++j) total += row[j];
      for (int j = 0; j < n; ++j) row[j] += total;
    }
    const DeviceArray<std::uint32_t> x(stream(), in);
    const DeviceArray<std::uint32_t> out(stream(), in);
    const std::vector<std::uint64_t> zeros(grid_meeting_bytes(rows, kSplitTakes, cut.blocks) / 8 + 1);
    const DeviceArray<std::uint64_t> zeroed(stream(), zeros);
    for (const auto* to : {&out, &x}) {
      EXPECT_TRUE(is_ok(run_split_sums(stream(), is_whole, x.data() + first, rows, n, pitch, cut,
                                       zeroed.data(), to->data() + first)));
      EXPECT_EQ(to->read(), expected);
      EXPECT_EQ(zeroed.read(), zeros);
    }
    return cut.shape;
  }
};
ROOFTILE_ON_EVERY_ORDER(SplitRows);

// Parts full and not; rows that share their blocks, the last of them with none, and one row alone.
TEST_P(SplitRows, EveryShape) {
  const auto all = static_cast<int>(properties().multiprocessors);
  std::set<int> shapes;
  for (const SplitShape& shape : kSplitTestShapes) {
    const auto full = static_cast<int>(shape.capacity()) * kWords;
    for (const int rows : {1, 2, 3, all / 2, all / 2 + 1}) {
      for (const int n : {full, full - 4 * kWords, 2 * full, 2 * full - 12 * kWords})
        shapes.insert(expect_right(rows, n));
    }
  }
  shapes.insert(expect_right(1, (all + 1) * static_cast<int>(kSplitTestShapes[0].capacity()) * kWords));
  for (int shape = 0; shape < static_cast<int>(kSplitTestShapes.size()); ++shape)
    EXPECT_TRUE(shapes.contains(shape)) << shape;
}
// Of 32 words some rows need 9 vectors, some 8: to those the second block has nothing.
TEST_P(SplitRows, RowsBeginAndEndAnywhere) {
  for (const SplitShape& shape : kSplitTestShapes) {
    const auto full = static_cast<int>(shape.capacity()) * kWords;
    for (int skew = 0; skew < kWords; ++skew) {
      for (const int n : {32, full - 3, full + 1, 2 * full - 2}) EXPECT_GE(expect_right(2, n, skew), 0);
    }
  }
  EXPECT_GE(expect_right(3, 1001, 1), 0);
}
// As many blocks as a row may have, one less, and words that a lane has two and four of.
TEST_P(SplitRows, ManyBlocks) {
  const auto most = static_cast<int>(smaller(properties().multiprocessors, kMostSplitBlocks));
  const auto full = static_cast<int>(kSplitTestShapes[0].capacity()) * kWords;
  for (const int blocks : {most, most - 1, most / 2 + 1}) {
    EXPECT_GE(expect_right(1, blocks * full), 0);
    EXPECT_GE(expect_right(1, blocks * full - 8 * kWords), 0);
  }
  EXPECT_EQ(split_for(kSplitTestShapes, 1, kMostSplitBlocks * 1024 + 1, 0, properties()).shape, -1);
}
// Twice as many rows as there is room for at once, and one more.
TEST_P(SplitRows, InRounds) {
  const auto all = static_cast<int>(properties().multiprocessors);
  const auto full = static_cast<int>(kSplitTestShapes[2].capacity()) * kWords;
  for (const int rows : {all, all + 1, 2 * all + 1}) {
    EXPECT_EQ(split_for(kSplitTestShapes, rows, 2 * full / kWords, 0, properties()).rounds, rows > 2 * all ? 3
                                                                                            : rows > all   ? 2
                                                                                                         : 1);
    EXPECT_GE(expect_right(rows, 2 * full), 0);
    EXPECT_GE(expect_right(rows, 2 * full - 3, 1), 0);
  }
}
TEST_P(SplitRows, SharedMemoryOfOneBlockAlone) {
  // 15 parts of 512 vectors are more than half of a multiprocessor's shared memory, of 1024 more than all of it.
  DeviceProperties device = properties();
  device.shared_memory_per_block = 227 << 10;
  const std::int64_t rows = device.multiprocessors / 2;
  const std::int64_t vectors = 2 * kSplitTestShapes[2].capacity();
  for (const int beside : {0, 14}) {
    EXPECT_EQ(split_for(kSplitTestShapes, rows, vectors, beside, device).shape, 1);
    EXPECT_EQ(split_for(kSplitTestShapes, 2 * rows, vectors, beside, device).shape, 1);
  }
  EXPECT_EQ(split_for(kSplitTestShapes, rows, vectors, 15, device).rounds, 1);
  EXPECT_EQ(split_for(kSplitTestShapes, 2 * rows, vectors, 15, device).rounds, 2);
  EXPECT_EQ(split_for(kSplitTestShapes, rows, vectors, 60, device).shape, -1);
}
// All blocks of a launch are there at once: with the system's part of each a multiprocessor has room for as many as the cut counts on.
TEST_P(SplitRows, AsManyBlocksAsSharedMemoryHasRoomFor) {
  DeviceProperties device = properties();
  device.multiprocessors = 58;
  // Of 4 and 15 parts some are just above half of it.
  for (const auto& [most, beside] : {std::pair(99 << 10, 4), std::pair(227 << 10, 15)}) {
    device.shared_memory_per_block = static_cast<std::size_t>(most);
    std::int64_t doubled = 0;
    for (int rows = 1; rows <= 2 * device.multiprocessors; ++rows) {
      for (std::int64_t vectors = 256; vectors <= 16384; vectors += 24) {
        const SplitCut cut = split_for(kSplitTestShapes, rows, vectors, beside, device);
        if (cut.shape < 0) continue;
        const std::int64_t block = cut.shared_bytes + kSplitOwnShared + kSystemShared;
        const std::int64_t launched = std::int64_t{cut.blocks} * cut.groups;
        ASSERT_LE(ceil_div(launched, device.multiprocessors) * block, most + kSystemShared)
            << rows << " rows of " << vectors << " vectors";
        doubled += launched > device.multiprocessors ? 1 : 0;
      }
    }
    EXPECT_GT(doubled, 0);
  }
}
// Blocks of which some multiprocessors would have two and most one become as many as there is room for.
TEST_P(SplitRows, SmallerBlocksForAll) {
  DeviceProperties device = properties();
  device.multiprocessors = 132;
  const std::int64_t capacity = kSplitTestShapes[2].capacity();
  EXPECT_EQ(split_for(kSplitTestShapes, 60, 2 * capacity, 0, device).blocks, 4);
  EXPECT_EQ(split_for(kSplitTestShapes, 75, 2 * capacity, 0, device).blocks, 6);
  EXPECT_EQ(split_for(kSplitTestShapes, 66, 4 * capacity, 0, device).blocks, 8);
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::block_tests
