#include "rooftile/core/tensor_map_spec.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace rooftile {
namespace {

alignas(16) unsigned char memory[64];

TensorMapSpec good() {
  TensorMapSpec spec{.data = memory, .dtype = DType::f16, .rank = 2, .swizzle = TileSwizzle::bytes64};
  spec.extents = {100, 7};
  spec.strides = {1, 104};
  spec.box = {32, 16};
  return spec;
}

template <class Change>
std::string rule_of(Change&& change) {
  TensorMapSpec spec = good();
  change(spec);
  return check_tensor_map(spec).rule();
}

TEST(TensorMapSpec, EveryRuleHasALine) {
  EXPECT_TRUE(check_tensor_map(good()).ok());
  EXPECT_EQ(rule_of([](auto& s) { s.rank = 0; }), "tensor map: the rank must be 1 to 5, not 0");
  EXPECT_EQ(rule_of([](auto& s) { s.rank = 6; }), "tensor map: the rank must be 1 to 5, not 6");
  EXPECT_EQ(rule_of([](auto& s) { s.data = nullptr; }), "tensor map: no data");
  EXPECT_EQ(rule_of([](auto& s) { s.data = memory + 8; }),
            "tensor map: the data must be aligned to 16 bytes, and start 8 bytes past such a boundary");
  EXPECT_EQ(rule_of([](auto& s) { s.extents[1] = 0; }),
            "tensor map: the extent of dimension 1 must be 1 to 2^32, not 0");
  EXPECT_EQ(rule_of([](auto& s) { s.extents[0] = (std::int64_t{1} << 32) + 1; }),
            "tensor map: the extent of dimension 0 must be 1 to 2^32, not 4294967297");
  EXPECT_EQ(rule_of([](auto& s) { s.strides[0] = 2; }),
            "tensor map: the elements of dimension 0 must be contiguous (stride 1, not 2)");
  EXPECT_EQ(
      rule_of([](auto& s) { s.strides[1] = 100; }),
      "tensor map: the stride of dimension 1 must be a positive multiple of 16 bytes below 2^40, not 100 "
      "elements of 2 bytes");
  EXPECT_NE(rule_of([](auto& s) { s.strides[1] = 0; }), "");
  EXPECT_NE(rule_of([](auto& s) { s.strides[1] = std::int64_t{1} << 39; }), "");
  EXPECT_EQ(rule_of([](auto& s) { s.box[1] = 257; }),
            "tensor map: the box's extent of dimension 1 must be 1 to 256, not 257");
  EXPECT_EQ(rule_of([](auto& s) { s.box[0] = 4; }),
            "tensor map: a row of the box must be a multiple of 16 bytes, not 8");
  EXPECT_EQ(rule_of([](auto& s) { s.box[0] = 40; }),
            "tensor map: a row of the box (80 bytes) must be the swizzle's 64");
  EXPECT_NE(rule_of([](auto& s) { s.box[0] = 16; }), "") << "rows of half a span would leave gaps";
  EXPECT_EQ(rule_of([](auto& s) { s.element_strides[1] = 9; }),
            "tensor map: the element stride of dimension 1 must be 1 to 8, not 9");
  EXPECT_EQ(rule_of([](auto& s) { s.element_strides[0] = 2; }),
            "tensor map: the element stride of dimension 0 must be 1, not 2");
  EXPECT_EQ(rule_of([](auto& s) {
              s.swizzle = TileSwizzle::none;
              s.dtype = DType::f32;
              s.box = {256, 256};
            }),
            "tensor map: a tile of 262144 bytes is more than the shared memory of a block (232448)");
  EXPECT_EQ(rule_of([](auto& s) {
              s.dtype = DType::i16;
              s.fill = OutOfBoundsFill::nan;
            }),
            "tensor map: elements of i16 cannot be filled with NaN: use zeros");
}

TEST(TensorMapSpec, BytesOfATile) {
  TensorMapSpec spec = good();
  EXPECT_EQ(tile_bytes(spec), 32u * 16 * 2);
  spec.element_strides[1] = 3;
  EXPECT_EQ(tile_bytes(spec), 32u * 6 * 2);
}

// Line r of 128 bytes (bytes128): chunk c goes to c ^ r; the narrower swizzles turn at half and a quarter of
// that pace, within their span.
TEST(TensorMapSpec, SwizzlesAreThePermutationsOfTheirTables) {
  for (std::uint32_t line = 0; line < 8; ++line) {
    for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
      const std::uint32_t offset = 128 * line + 16 * chunk;
      EXPECT_EQ(swizzled(TileSwizzle::none, offset), offset);
      EXPECT_EQ(swizzled(TileSwizzle::bytes128, offset), 128 * line + 16 * (chunk ^ line));
      EXPECT_EQ(swizzled(TileSwizzle::bytes64, offset), 128 * line + 16 * (chunk ^ (line % 4)));
      EXPECT_EQ(swizzled(TileSwizzle::bytes32, offset), 128 * line + 16 * (chunk ^ (line % 2)));
    }
  }
  for (const TileSwizzle swizzle : {TileSwizzle::bytes32, TileSwizzle::bytes64, TileSwizzle::bytes128}) {
    for (std::uint32_t offset = 0; offset < 4096; ++offset) {
      ASSERT_EQ(swizzled(swizzle, swizzled(swizzle, offset)), offset) << "its own inverse";
      ASSERT_EQ(swizzled(swizzle, offset + tile_alignment(swizzle)),
                swizzled(swizzle, offset) + tile_alignment(swizzle))
          << "the pattern repeats";
    }
  }
}

// The point of the swizzle: 8 rows of one 16-byte column lie in 8 different groups of banks.
TEST(TensorMapSpec, AColumnOfASwizzledTileMeetsNoBankTwice) {
  for (std::uint32_t chunk = 0; chunk < 8; ++chunk) {
    std::set<std::uint32_t> banks;
    for (std::uint32_t row = 0; row < 8; ++row) {
      banks.insert(swizzled(TileSwizzle::bytes128, 128 * row + 16 * chunk) % 128);
    }
    EXPECT_EQ(banks.size(), 8u);
  }
}

}  // namespace
}  // namespace rooftile
