// The proof that the swizzles have no bank conflicts: the banks of a warp's accesses, counted. The functions
// are constexpr and the same on every target; each pattern is counted without the swizzle too.
//
// The count agrees with ncu on an H200 (l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld of
// swizzle_test's TransposesATile): 0 with the swizzle; 224 without, where the compiler reads 16 bytes per
// lane: 8 requests of 4 phases, each 8 deep and so 7 cycles too long.
#include <gtest/gtest.h>

#include "rooftile/device/swizzle.h"
#include "tests/device/blocks/bank_conflicts.h"

namespace rooftile {
namespace {

// Lane i's offset is offset_of(i).
template <class Offset>
std::size_t degree_of(std::uint32_t bytes_per_lane, Offset offset_of) {
  std::vector<std::uint32_t> offsets;
  for (std::uint32_t lane = 0; lane < 32; ++lane) offsets.push_back(offset_of(lane));
  return conflict_degree(offsets, bytes_per_lane);
}

TEST(BankConflicts, AreCounted) {
  EXPECT_EQ(degree_of(4, [](std::uint32_t lane) { return lane * 4; }), 1u);
  EXPECT_EQ(degree_of(4, [](std::uint32_t) { return 0u; }), 1u);  // a broadcast
  EXPECT_EQ(degree_of(4, [](std::uint32_t lane) { return lane * 8; }), 2u);
  EXPECT_EQ(degree_of(4, [](std::uint32_t lane) { return lane * 128; }), 32u);
  EXPECT_EQ(degree_of(4, [](std::uint32_t lane) { return lane * 132; }), 1u);  // padded
  EXPECT_EQ(degree_of(1, [](std::uint32_t lane) { return lane; }), 1u);
  EXPECT_EQ(degree_of(16, [](std::uint32_t lane) { return lane * 16; }), 1u);
  EXPECT_EQ(degree_of(16, [](std::uint32_t lane) { return lane * 128; }), 8u);
}

// 16 bytes per lane down a column of chunks, as ldmatrix and vectorised transposes read: 8 rows a phase.
template <int kSpan>
void expect_chunk_columns_free() {
  for (std::uint32_t chunk = 0; chunk < kSpan / 16; ++chunk) {
    const auto plain = [=](std::uint32_t row) { return row * kSpan + chunk * 16; };
    EXPECT_EQ(degree_of(16, plain), kSpan / 16u) << kSpan << ", chunk " << chunk;
    EXPECT_EQ(degree_of(16, [=](std::uint32_t row) { return sim::swizzle_bytes<kSpan>(plain(row)); }), 1u)
        << kSpan << ", chunk " << chunk;
  }
  // Rows stay free of conflicts: 128 consecutive bytes, 4 per lane.
  for (std::uint32_t line = 0; line < 8; ++line) {
    EXPECT_EQ(
        degree_of(4, [=](std::uint32_t lane) { return sim::swizzle_bytes<kSpan>(line * 128 + lane * 4); }),
        1u);
  }
}

TEST(Swizzle, ChunkColumnsOf32Bytes) { expect_chunk_columns_free<32>(); }
TEST(Swizzle, ChunkColumnsOf64Bytes) { expect_chunk_columns_free<64>(); }
TEST(Swizzle, ChunkColumnsOf128Bytes) { expect_chunk_columns_free<128>(); }

TEST(Swizzle, IsItsOwnInverse) {
  for (std::uint32_t offset = 0; offset < 4096; ++offset) {
    EXPECT_EQ(sim::swizzle_bytes<128>(sim::swizzle_bytes<128>(offset)), offset);
    EXPECT_EQ(sim::swizzle_bytes<64>(sim::swizzle_bytes<64>(offset)), offset);
    EXPECT_EQ(sim::swizzle_bytes<32>(sim::swizzle_bytes<32>(offset)), offset);
  }
  for (int row = 0; row < 32; ++row) {
    for (int column = 0; column < 32; ++column) {
      const int moved = sim::swizzled_column<32, 4>(row, column);
      EXPECT_EQ((sim::swizzled_column<32, 4>(row, moved)), column);
      EXPECT_EQ(moved % 4, column % 4);
    }
  }
}

// A 32 x 32 tile of T: a warp writes a row (one element per lane) and reads a column.
template <class T>
void expect_tile_free(std::size_t degree_of_plain_column) {
  const auto offset = [](int row, int column) {
    return static_cast<std::uint32_t>((row * 32 + column) * static_cast<int>(sizeof(T)));
  };
  for (int fixed = 0; fixed < 32; ++fixed) {
    const auto row = [=](std::uint32_t lane) {
      return offset(fixed, sim::swizzled_column<32>(fixed, static_cast<int>(lane)));
    };
    const auto column = [=](std::uint32_t lane) {
      return offset(static_cast<int>(lane), sim::swizzled_column<32>(static_cast<int>(lane), fixed));
    };
    const auto plain = [=](std::uint32_t lane) { return offset(static_cast<int>(lane), fixed); };
    EXPECT_EQ(degree_of(sizeof(T), row), 1u) << fixed;
    EXPECT_EQ(degree_of(sizeof(T), column), 1u) << fixed;
    EXPECT_EQ(degree_of(sizeof(T), plain), degree_of_plain_column) << fixed;
  }
}

TEST(Swizzle, TilesOfWords) { expect_tile_free<float>(32); }
TEST(Swizzle, TilesOfDoubleWords) { expect_tile_free<double>(16); }
TEST(Swizzle, TilesOf16Bytes) { expect_tile_free<std::array<float, 4>>(8); }

}  // namespace
}  // namespace rooftile
