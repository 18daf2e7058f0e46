#include "rooftile/core/view.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rooftile {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

class View : public testing::Test {
 protected:
  ConstTensorView view(Extents shape, Extents strides) const {
    return {memory_.data() + 64, DType::f32, kCpu, shape, strides};
  }
  alignas(64) std::array<float, 128> memory_{};
};

TEST(Extents, PrintAndCompare) {
  EXPECT_EQ((Extents{3, 4}).to_string(), "[3,4]");
  EXPECT_EQ(Extents().to_string(), "[]");
  EXPECT_TRUE((Extents{3, 4} == Extents{3, 4}));
  EXPECT_FALSE((Extents{3, 4} == Extents{3, 4, 1}));
  EXPECT_FALSE((Extents{3, 4} == Extents{3, 5}));
}

TEST(Extents, TooManyAreAnInvalidShape) {
  const std::vector<std::int64_t> nine(9, 1);
  const Extents shape{std::span<const std::int64_t>(nine)};
  EXPECT_FALSE(checked_numel(shape).ok());
  const std::vector<std::int64_t> eight(8, 2);
  EXPECT_EQ(*checked_numel(Extents(std::span<const std::int64_t>(eight))), 256);
}

TEST(CheckedNumel, CountsAndRefuses) {
  EXPECT_EQ(*checked_numel(Extents{}), 1);
  EXPECT_EQ(*checked_numel(Extents{3, 4, 5}, 4), 60);
  EXPECT_EQ(*checked_numel(Extents{0, 7}), 0);
  EXPECT_EQ(*checked_numel(Extents{kHuge}), kHuge);
  EXPECT_FALSE(checked_numel(Extents{kHuge}, 2).ok());
  EXPECT_FALSE(checked_numel(Extents{kHuge, 2}).ok());
  EXPECT_FALSE(checked_numel(Extents{kHuge, kHuge, 0}).ok());
  EXPECT_FALSE(checked_numel(Extents{std::int64_t{1} << 32, std::int64_t{1} << 32}).ok());
  EXPECT_FALSE(checked_numel(Extents{1}, std::numeric_limits<std::size_t>::max()).ok());
  EXPECT_NE(checked_numel(Extents{3, -1}).status().rule().find("[3,-1] has a negative extent"),
            std::string::npos);
  EXPECT_FALSE(checked_numel(Extents{0, -1}).ok());
}

TEST(ContiguousStrides, AreRowMajor) {
  EXPECT_EQ(contiguous_strides(Extents{2, 3, 4}), (Extents{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Extents{}), Extents{});
  EXPECT_EQ(contiguous_strides(Extents{2, 0, 4}).rank(), 3);
}

TEST_F(View, Contiguity) {
  EXPECT_TRUE(view({2, 3}, {3, 1}).contiguous());
  EXPECT_TRUE(view({1, 3}, {77, 1}).contiguous());
  EXPECT_TRUE(view({0, 3}, {-5, 9}).contiguous());
  EXPECT_FALSE(view({2, 3}, {4, 1}).contiguous());
  EXPECT_FALSE(view({2, 3}, {1, 2}).contiguous());
}

TEST_F(View, CheckAcceptsWhatIsSound) {
  EXPECT_TRUE(check_view(view({2, 3}, {3, 1}), "in").ok());
  EXPECT_TRUE(check_view(view({4, 4}, {-4, 0}), "in").ok());
  EXPECT_TRUE(check_view(view({}, {}), "in").ok());
  ConstTensorView empty = view({0}, {1});
  empty.data = nullptr;
  EXPECT_TRUE(check_view(empty, "in").ok());
}

TEST_F(View, CheckNamesTheSlotAndTheRule) {
  const auto rule = [](const ConstTensorView& bad) {
    const Status status = check_view(bad, "in");
    EXPECT_EQ(status.code(), StatusCode::invalid_argument);
    EXPECT_EQ(status.rule().substr(0, 4), "in: ");
    return status.rule();
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };

  EXPECT_TRUE(has(rule(view({2, 3}, {1})), "one stride per extent"));
  EXPECT_TRUE(has(rule(view({2, -3}, {3, 1})), "negative extent"));
  EXPECT_TRUE(has(rule(view({kHuge, 4}, {4, 1})), "too large"));
  EXPECT_TRUE(has(rule(view({3}, {kHuge})), "reach beyond"));
  EXPECT_TRUE(has(rule(view({2}, {std::numeric_limits<std::int64_t>::min()})), "reach beyond"));
  EXPECT_TRUE(has(rule(view({2, 2}, {kHuge, kHuge})), "reach beyond"));
  ConstTensorView null = view({1}, {1});
  null.data = nullptr;
  EXPECT_TRUE(has(rule(null), "null"));
  ConstTensorView misaligned = view({1}, {1});
  misaligned.data = static_cast<const std::byte*>(misaligned.data) + 1;
  EXPECT_TRUE(has(rule(misaligned), "not aligned to its element of 4 bytes"));
  ConstTensorView foreign = view({1}, {1});
  foreign.dtype = static_cast<DType>(99);
  EXPECT_TRUE(has(rule(foreign), "dtype"));
}

TEST_F(View, ByteRangesCoverBothDirections) {
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

TEST_F(View, OverlapIsByTheByte) {
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

TEST_F(View, TheMutableViewConverts) {
  const TensorView view = contiguous_view<void>(memory_.data(), DType::f32, kCpu, Extents{2, 2});
  const ConstTensorView constant = view;
  EXPECT_EQ(constant.data, view.data);
  EXPECT_EQ(constant.to_string(), "f32[2,2]");
  EXPECT_EQ(constant.numel(), 4);
}

}  // namespace
}  // namespace rooftile
