#include "rooftile/core/overlap.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace rooftile {
namespace {

class Overlap : public testing::Test {
 protected:
  ConstTensorView view(Extents shape, Extents strides) const {
    return {memory_.data() + 64, DType::f32, kCpu, shape, strides};
  }
  alignas(64) std::array<float, 128> memory_{};
};

TEST_F(Overlap, ByteRangesCoverBothDirections) {
  const auto expect_range = [](const ConstTensorView& v, std::int64_t first, std::int64_t last) {
    EXPECT_EQ(byte_range(v).first, first);
    EXPECT_EQ(byte_range(v).last, last);
  };
  expect_range(view({2, 3}, {3, 1}), 0, 24);
  expect_range(view({2, 3}, {10, 1}), 0, 52);
  expect_range(view({4}, {-1}), -12, 4);
  expect_range(view({2, 3}, {-3, 1}), -12, 12);
  expect_range(view({5}, {0}), 0, 4);
  expect_range(view({0, 5}, {5, 1}), 0, 0);
  expect_range(view({}, {}), 0, 4);
}

TEST_F(Overlap, OverlapIsByTheByte) {
  const auto at = [&](int offset, std::int64_t n) {
    return contiguous_view<const void>(memory_.data() + offset, DType::f32, kCpu, Extents{n});
  };
  EXPECT_TRUE(overlaps(at(0, 4), at(3, 4)));
  EXPECT_TRUE(overlaps(at(3, 4), at(0, 4)));
  EXPECT_TRUE(overlaps(at(0, 10), at(4, 1)));
  EXPECT_FALSE(overlaps(at(0, 4), at(4, 4)));
  EXPECT_FALSE(overlaps(at(4, 4), at(0, 4)));
  EXPECT_FALSE(overlaps(at(0, 0), at(0, 4)));
  ConstTensorView reversed = at(8, 8);
  reversed.strides = Extents{-1};
  EXPECT_TRUE(overlaps(reversed, at(1, 1)));
  EXPECT_FALSE(overlaps(reversed, at(9, 1)));
}

}  // namespace
}  // namespace rooftile
