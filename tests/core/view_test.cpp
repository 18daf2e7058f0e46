#include "rooftile/core/view.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rooftile {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

class View : public testing::Test {
 protected:
  ConstTensorView view(Extents shape, Extents strides) const {
    return {static_cast<const void*>(memory_.data() + 64), DType::f32, kCpu, shape, strides};
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

// Typed memory with a dtype written by hand does not compile; memory of no type does.
template <class Pointer>
constexpr bool kTakesADtype = requires(Pointer data) {
  contiguous_view<const void>(data, DType::f64, kCpu, Extents{});
};
static_assert(kTakesADtype<void*> && kTakesADtype<const void*> && kTakesADtype<std::nullptr_t>);
static_assert(!kTakesADtype<float*> && !kTakesADtype<const double*>);
template <class Pointer>
constexpr bool kMakesAView = std::is_constructible_v<TensorView, Pointer, DType, Device, Extents, Extents>;
static_assert(kMakesAView<void*> && !kMakesAView<float*> && !kMakesAView<const void*>);
static_assert(!std::is_invocable_v<decltype([](auto& x) -> decltype(view(x, DType::f64)) { return {}; }),
                                   std::vector<float>&>);

TEST_F(View, TheMutableViewConverts) {
  const TensorView view = rooftile::view(memory_.data(), {2, 2});
  const ConstTensorView constant = view;
  EXPECT_EQ(constant.data, view.data);
  EXPECT_EQ(constant.to_string(), "f32[2,2]");
  EXPECT_EQ(constant.numel(), 4);
}

// The elements of a view of ints, in its order.
std::vector<int> elements_of(const ConstTensorView& view) {
  EXPECT_TRUE(check_view(view, "view").ok()) << check_view(view, "view").message();
  std::vector<int> elements;
  Extents at = view.shape;
  for (int i = 0; i < at.rank(); ++i) at[i] = 0;
  for (std::int64_t left = view.numel(); left > 0; --left) {
    std::int64_t offset = 0;
    for (int i = 0; i < at.rank(); ++i) offset += at[i] * view.strides[i];
    elements.push_back(static_cast<const int*>(view.data)[offset]);
    for (int i = at.rank() - 1; i >= 0 && ++at[i] == view.shape[i]; --i) at[i] = 0;
  }
  return elements;
}

// 0 1 2 3, 4 5 6 7, 8 9 10 11
class Views : public testing::Test {
 protected:
  Views() {
    for (int i = 0; i < 12; ++i) numbers_[static_cast<std::size_t>(i)] = i;
  }
  std::array<int, 12> numbers_{};
  ConstTensorView matrix_ = view(numbers_, {3, 4});
};

void expect_fault(const ConstTensorView& broken, const char* reason) {
  const Status status = check_view(broken, "in");
  EXPECT_EQ(status.code(), StatusCode::invalid_argument);
  EXPECT_NE(status.rule().find(reason), std::string::npos) << status.rule();
}

TEST(ViewOf, DeducesDtypeShapeAndConstness) {
  std::vector<double> x(6);
  const std::vector<std::uint8_t> bytes(4);
  float one = 1;
  static_assert(std::is_same_v<decltype(view(x)), TensorView>);
  static_assert(std::is_same_v<decltype(view(bytes)), ConstTensorView>);
  static_assert(std::is_same_v<decltype(view(one)), TensorView>);
  EXPECT_EQ(view(x).to_string(), "f64[6]");
  EXPECT_EQ(view(x).data, x.data());
  EXPECT_EQ(view(x, {2, 3}).to_string(), "f64[2,3]");
  EXPECT_EQ(view(bytes).to_string(), "u8[4]");
  EXPECT_EQ(view(one).to_string(), "f32[]");
  EXPECT_EQ(view(std::span<const double>(x).first(2)).to_string(), "f64[2]");
  long long wide[3] = {};
  EXPECT_EQ(view(wide).to_string(), "i64[3]");
  EXPECT_EQ(view(x.data(), {3, 2}, kSim).to_string(), "f64[3,2] on sim");
  BFloat16 halves[2] = {};
  EXPECT_EQ(view(halves, {2, 1}).to_string(), "bf16[2,1]");
}

template <class T>
concept HasView = requires(T& memory) {
  view(memory);
};
TEST(ViewOf, WhatHasNoDtypeDoesNotCompile) {
  static_assert(HasView<std::vector<float>>);
  static_assert(!HasView<std::vector<bool>>);
  static_assert(!HasView<bool>);
  static_assert(!HasView<char>);
  static_assert(!HasView<std::string>);
  static_assert(!HasView<std::vector<std::string>>);
  static_assert(!HasView<std::array<std::byte, 4>>);
}

template <class T>
concept HasViewOfTemporary = requires {
  view(std::declval<T&&>());
};
TEST(ViewOf, ATemporaryThatOwnsItsMemoryDoesNotCompile) {
  static_assert(!HasViewOfTemporary<std::vector<float>>);
  static_assert(HasViewOfTemporary<std::span<float>>);
}

TEST(ViewOf, AShapeOfOtherSizeIsRefused) {
  std::vector<float> x(12);
  expect_fault(view(x, {3, 5}), "another number of elements");
  expect_fault(view(x, {3}), "another number of elements");
  expect_fault(view(x, {1, 1, 1, 1, 1, 1, 1, 1, 12}), "at most 8");
  expect_fault(view(x, {-3, -4}), "negative extent");
  expect_fault(view(x, {kHuge, kHuge}), "too large");
  expect_fault(view(x, {3, 5}).slice(0, 0, 1).permute({1, 0}), "another number of elements");
}

// Strides that reach around the address space and back: the view is made, and refused by whoever is given it.
TEST_F(Views, StridesBeyondTheAddressSpace) {
  const TensorView far(view(numbers_).data, DType::i32, kCpu, {4, 4}, {kHuge, kHuge});
  EXPECT_EQ(check_view(far, "in").code(), StatusCode::invalid_argument);
  for (const TensorView& one :
       {far.slice(0, 2, 4), far.select(1, 3), far.flip(0), far.reshape({2, 8}), far.permute({1, 0})}) {
    EXPECT_EQ(check_view(one, "in").code(), StatusCode::invalid_argument) << one.to_string();
  }
}

TEST_F(Views, Slice) {
  EXPECT_EQ(elements_of(matrix_.slice(0, 1, 3)), (std::vector{4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(elements_of(matrix_.slice(1, 0, 4, 2)), (std::vector{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(elements_of(matrix_.slice(-1, 1, 4, 3)), (std::vector{1, 5, 9}));
  EXPECT_EQ(elements_of(matrix_.slice(1, -2, 100)), (std::vector{2, 3, 6, 7, 10, 11}));
  EXPECT_EQ(elements_of(matrix_.slice(0, -100, 1)), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(elements_of(matrix_.slice(1, 3, 1)), std::vector<int>());
  EXPECT_EQ(elements_of(matrix_.slice(1, 1, 4, kHuge)), (std::vector{1, 5, 9}));
  expect_fault(matrix_.slice(2, 0, 1), "no such axis");
  expect_fault(matrix_.slice(0, 0, 1, 0), "steps forward");
  expect_fault(matrix_.slice(0, 3, 0, -1), "flip()");
}

TEST_F(Views, SelectAndFlip) {
  EXPECT_EQ(elements_of(matrix_.select(0, 1)), (std::vector{4, 5, 6, 7}));
  EXPECT_EQ(elements_of(matrix_.select(1, -1)), (std::vector{3, 7, 11}));
  EXPECT_EQ(elements_of(matrix_.flip(1).select(0, 0)), (std::vector{3, 2, 1, 0}));
  EXPECT_EQ(elements_of(matrix_.flip(0).select(1, 0)), (std::vector{8, 4, 0}));
  EXPECT_EQ(elements_of(matrix_.slice(0, 0, 0).flip(0)), std::vector<int>());
  EXPECT_EQ(ConstTensorView(static_cast<const void*>(numbers_.data()), DType::i32, kCpu, {1},
                            {std::numeric_limits<std::int64_t>::min()})
                .flip(0)
                .numel(),
            1);
  expect_fault(matrix_.select(0, 3), "index of the axis");
  expect_fault(matrix_.select(0, -4), "index of the axis");
  expect_fault(matrix_.flip(-3), "no such axis");
}

TEST_F(Views, Permute) {
  EXPECT_EQ(elements_of(matrix_.permute({1, 0})), (std::vector{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  EXPECT_EQ(elements_of(matrix_.permute({-1, 0})), elements_of(matrix_.permute({1, 0})));
  expect_fault(matrix_.permute({0}), "every axis once");
  expect_fault(matrix_.permute({0, 0}), "every axis once");
  expect_fault(matrix_.permute({0, 2}), "every axis once");
  expect_fault(matrix_.permute({0, std::int64_t{1} << 32}), "every axis once");
}

TEST_F(Views, ReshapeKeepsTheOrderAndNeverCopies) {
  EXPECT_EQ(matrix_.reshape({2, -1}).to_string(), "i32[2,6]");
  EXPECT_EQ(elements_of(matrix_.reshape({2, 3, 2})), elements_of(matrix_));
  EXPECT_EQ(elements_of(matrix_.reshape({12})), elements_of(matrix_));
  EXPECT_EQ(elements_of(matrix_.reshape({1, 12, 1})), elements_of(matrix_));
  // Rows with gaps divide, and do not merge.
  const ConstTensorView gaps = matrix_.slice(1, 0, 2);
  EXPECT_EQ(elements_of(gaps.reshape({3, 1, 2})), (std::vector{0, 1, 4, 5, 8, 9}));
  expect_fault(gaps.reshape({6}), "does not copy");
  expect_fault(gaps.reshape({2, 3}), "does not copy");
  EXPECT_EQ(elements_of(matrix_.permute({1, 0}).reshape({2, 2, 3})), elements_of(matrix_.permute({1, 0})));
  EXPECT_EQ(elements_of(matrix_.slice(0, 0, 1).reshape({2, 2})), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(matrix_.slice(0, 0, 0).reshape({4, 0}).to_string(), "i32[4,0]");
  EXPECT_EQ(matrix_.select(0, 0).select(0, 0).reshape({1, 1}).to_string(), "i32[1,1]");
  expect_fault(matrix_.reshape({5, -1}), "number of elements");
  expect_fault(matrix_.reshape({5, -1}), "asked for [5,-1] of [3,4]");
  expect_fault(matrix_.reshape({5, -1}).slice(0, 0, 1).permute({0}), "asked for [5,-1] of [3,4]");
  expect_fault(matrix_.reshape({-1, -1}), "number of elements");
  expect_fault(matrix_.slice(0, 0, 0).reshape({0, -1}), "number of elements");
  expect_fault(matrix_.reshape({kHuge, kHuge}), "number of elements");
}

TEST_F(Views, SqueezeUnsqueezeExpand) {
  EXPECT_EQ(matrix_.unsqueeze(0).shape, (Extents{1, 3, 4}));
  EXPECT_EQ(matrix_.unsqueeze(-1).shape, (Extents{3, 4, 1}));
  EXPECT_EQ(elements_of(matrix_.unsqueeze(1).squeeze(1)), elements_of(matrix_));
  const ConstTensorView row = matrix_.slice(0, 1, 2).slice(1, 0, 2);
  EXPECT_EQ(elements_of(row.expand({3, 2})), (std::vector{4, 5, 4, 5, 4, 5}));
  EXPECT_EQ(elements_of(row.expand({2, 1, 2})), (std::vector{4, 5, 4, 5}));
  expect_fault(matrix_.squeeze(0), "extent 1");
  expect_fault(matrix_.unsqueeze(4), "no such axis");
  expect_fault(matrix_.expand({4}), "repeats axes of extent 1");
  expect_fault(matrix_.expand({6, 4}), "repeats axes of extent 1");
  expect_fault(matrix_.reshape({1, 1, 1, 1, 1, 1, 3, 4}).unsqueeze(0), "at most 8");
}

TEST_F(Views, PrintsStridesWhereTheyMatter) {
  EXPECT_EQ(matrix_.to_string(), "i32[3,4]");
  EXPECT_EQ(matrix_.permute({1, 0}).to_string(), "i32[4,3] with strides [1,4]");
  EXPECT_EQ(matrix_.slice(0, 0, 1).to_string(), "i32[1,4]");
}

TEST(Extents, AreARange) {
  const Extents shape{2, 3, 4};
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  EXPECT_EQ(product, 24);
  EXPECT_EQ(shape.size(), 3u);
  EXPECT_TRUE(Extents().empty());
  Extents nine{1, 2, 3, 4, 5, 6, 7, 8};
  nine.push_back(9);
  EXPECT_EQ(nine.fault(), ShapeFault::rank);
}

}  // namespace
}  // namespace rooftile
