#include "rooftile/core/overlap.h"

#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>

namespace rooftile {
namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 62;
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// At an address that nobody reads.
ConstTensorView at(std::uintptr_t address, DType dtype, const Extents& shape, const Extents& strides) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr)
  return {reinterpret_cast<const void*>(address), dtype, kCpu, shape, strides};
}
ConstTensorView dense(std::uintptr_t address, DType dtype, const Extents& shape) {
  return at(address, dtype, shape, contiguous_strides(shape));
}

// In either order and with any dimension backwards the answer is the same.
void expect_overlap(const ConstTensorView& a, const ConstTensorView& b, bool expected) {
  const auto expect = [&](const ConstTensorView& x, const ConstTensorView& y) {
    ASSERT_TRUE(check_view(x, "x").ok()) << check_view(x, "x").message();
    ASSERT_TRUE(check_view(y, "y").ok()) << check_view(y, "y").message();
    EXPECT_EQ(overlaps(x, y), expected) << x.to_string() << " and " << y.to_string();
    EXPECT_EQ(overlaps(y, x), expected) << y.to_string() << " and " << x.to_string();
  };
  expect(a, b);
  for (int i = 0; i < a.rank(); ++i) expect(a.flip(i), b);
  for (int i = 0; i < b.rank(); ++i) expect(a, b.flip(i));
}

TEST(ByteRange, CoversBothDirections) {
  const auto expect_range = [](const Extents& shape, const Extents& strides, std::int64_t first,
                               std::int64_t last) {
    const ByteRange range = byte_range(at(4096, DType::f32, shape, strides));
    EXPECT_EQ(range.first, first);
    EXPECT_EQ(range.last, last);
  };
  expect_range({2, 3}, {3, 1}, 0, 24);
  expect_range({2, 3}, {10, 1}, 0, 52);
  expect_range({4}, {-1}, -12, 4);
  expect_range({2, 3}, {-3, 1}, -12, 12);
  expect_range({5}, {0}, 0, 4);
  expect_range({0, 5}, {5, 1}, 0, 0);
  expect_range({}, {}, 0, 4);
}

TEST(Overlap, ContiguousViews) {
  const auto floats = [](std::uintptr_t offset, std::int64_t n) {
    return dense(4096 + 4 * offset, DType::f32, {n});
  };
  expect_overlap(floats(0, 4), floats(3, 4), true);
  expect_overlap(floats(0, 10), floats(4, 1), true);
  expect_overlap(floats(0, 4), floats(4, 4), false);
  expect_overlap(floats(0, 0), floats(0, 4), false);
  expect_overlap(floats(0, 1).reshape({}), floats(0, 4), true);
  expect_overlap(floats(8, 8).flip(0), floats(8, 1), true);
  expect_overlap(floats(8, 8).flip(0), floats(16, 1), false);
}

TEST(Overlap, InterleavedPlanes) {
  for (const DType dtype : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    const ConstTensorView image = dense(4096, dtype, {480, 640, 3});
    const auto plane = [&](int i) { return image.select(2, i); };
    expect_overlap(plane(0), plane(1), false);
    expect_overlap(plane(0), plane(2), false);
    expect_overlap(plane(1), plane(1), true);
    expect_overlap(plane(1), image, true);
    expect_overlap(plane(1), plane(1).slice(0, 100, 101).slice(1, 7, 8), true);
    expect_overlap(plane(1), plane(2).slice(0, 100, 101).slice(1, 7, 8), false);
    expect_overlap(plane(1).permute({1, 0}), plane(1), true);
    expect_overlap(plane(1).permute({1, 0}), plane(2), false);
    expect_overlap(image.slice(2, 0, 2), plane(2), false);
    expect_overlap(image.slice(2, 0, 2), image.slice(2, 1, 3), true);
  }
}

TEST(Overlap, BlocksOfColumnsAndRows) {
  const ConstTensorView x = dense(4096, DType::f32, {1000, 8});
  const auto columns = [&](std::int64_t begin, std::int64_t end) { return x.slice(1, begin, end); };
  expect_overlap(columns(0, 3), columns(3, 8), false);
  expect_overlap(columns(0, 4), columns(3, 8), true);
  expect_overlap(columns(0, 3).slice(0, 1, 900), columns(3, 8).slice(0, 500, 600), false);
  expect_overlap(x.slice(0, 0, 500), x.slice(0, 500, 1000), false);
  expect_overlap(x.slice(0, 0, 501), x.slice(0, 500, 1000), true);
  expect_overlap(x.slice(0, 0, 1000, 2), x.slice(0, 1, 1000, 2), false);
  expect_overlap(x.slice(0, 0, 1000, 2), x.slice(0, 1, 1000, 3), true);
  expect_overlap(x.slice(0, 0, 3, 2), x.slice(0, 1, 4, 2), false);
  // Rows 0, 2, 4, ... and 1, 4, 7: the first place they share is row 4.
  expect_overlap(x.slice(0, 0, 4, 2), x.slice(0, 1, 1000, 3), false);
  expect_overlap(x.slice(0, 0, 6, 2), x.slice(0, 1, 1000, 3), true);
}

TEST(Overlap, BlocksOfManyDimensions) {
  const ConstTensorView x = dense(4096, DType::f16, {2, 3, 4, 5, 6, 7, 8, 9});
  for (int axis = 0; axis < 8; ++axis) {
    const ConstTensorView first = x.slice(axis, 0, 1);
    const ConstTensorView others = x.slice(axis, 1, 9);
    expect_overlap(first, others, false);
    expect_overlap(first, others.permute({7, 6, 5, 4, 3, 2, 1, 0}), false);
    expect_overlap(x.slice(axis, 0, 2).permute({3, 2, 0, 1, 7, 6, 4, 5}), others, true);
  }
  const ConstTensorView diagonal = at(4096, DType::f32, {100}, {101});
  const ConstTensorView matrix = dense(4096, DType::f32, {100, 100});
  expect_overlap(diagonal, matrix.slice(0, 50, 51), true);
  expect_overlap(diagonal, matrix.slice(0, 50, 51).slice(1, 0, 50), false);
  expect_overlap(diagonal, matrix.slice(0, 0, 50).slice(1, 50, 100), false);
  expect_overlap(diagonal, matrix.slice(0, 0, 51).slice(1, 50, 100), true);
}

TEST(Overlap, StrideZeroAndExtentsOfOneAndNone) {
  const ConstTensorView repeated = at(4096, DType::f32, {7, 3}, {0, 4});
  expect_overlap(repeated, at(4100, DType::f32, {5, 2}, {0, 4}), false);
  expect_overlap(repeated, at(4096 + 32, DType::f32, {5, 2}, {0, -1}), true);
  expect_overlap(at(4096, DType::f32, {1, 3}, {-kHuge, 2}), at(4100, DType::f32, {3, 1}, {2, kHuge}), false);
  expect_overlap(at(4096, DType::f32, {1, 3}, {-kHuge, 2}), at(4104, DType::f32, {3, 1}, {2, kHuge}), true);
  expect_overlap(at(4096, DType::f32, {3, 0}, {2, 2}), at(4096, DType::f32, {3, 2}, {4, 2}), false);
  expect_overlap(at(4096, DType::f32, {0}, {1}), at(4096, DType::f32, {0}, {1}), false);
}

TEST(Overlap, PartsOfElements) {
  const ConstTensorView every_second = at(4096, DType::f64, {10}, {2});
  expect_overlap(every_second, at(4096 + 8, DType::u8, {10}, {16}), false);
  expect_overlap(every_second, at(4096 + 7, DType::u8, {10}, {16}), true);
  expect_overlap(every_second, at(4096 + 8, DType::f32, {5, 2}, {4, 1}), false);
  expect_overlap(every_second, at(4096 + 4, DType::f32, {5}, {4}), true);
  expect_overlap(every_second, at(4096 + 8, DType::f16, {4}, {1}), false);
  expect_overlap(every_second, at(4096 + 8, DType::f16, {5}, {1}), true);
}

TEST(Overlap, StridesAsLargeAsTheyGet) {
  constexpr std::uintptr_t kMiddle = std::uintptr_t{1} << 63;
  expect_overlap(at(kMiddle, DType::u8, {2}, {kHuge}), at(kMiddle + 1, DType::u8, {2}, {kHuge}), false);
  expect_overlap(at(kMiddle, DType::u8, {2}, {kHuge}), at(kMiddle + 1, DType::u8, {2}, {kHuge - 1}), true);
  expect_overlap(at(kMiddle, DType::u8, {2}, {kHuge}), at(kMiddle + 1, DType::u8, {2}, {kHuge - 2}), false);
  expect_overlap(at(kMiddle, DType::f64, {2}, {kHuge / 8}), at(kMiddle + 8, DType::f64, {2}, {kHuge / 8}),
                 false);
  expect_overlap(at(kMiddle, DType::f64, {2}, {kHuge / 8}), at(kMiddle + 8, DType::f32, {2}, {kHuge / 4 - 1}),
                 true);
  expect_overlap(at(kMiddle, DType::u8, {2, 2}, {-kHuge, kHuge - 2}),
                 at(kMiddle + 1, DType::u8, {3}, {kHuge / 2}), false);
}

// From near 0 to beyond the last address; their other direction is not representable.
TEST(Overlap, ViewsOfAllThereIs) {
  constexpr std::uintptr_t kLast = std::numeric_limits<std::uintptr_t>::max();
  const ConstTensorView widest = at(kLast, DType::u8, {2, 3}, {kMin, kHuge - 1});
  ASSERT_TRUE(check_view(widest, "widest").ok());
  const auto expect = [&](const ConstTensorView& other, bool expected) {
    ASSERT_TRUE(check_view(other, "other").ok()) << check_view(other, "other").message();
    EXPECT_EQ(overlaps(widest, other), expected) << other.to_string();
    EXPECT_EQ(overlaps(other, widest), expected) << other.to_string();
  };
  expect(widest, true);
  expect(at(kLast / 2, DType::u8, {2, 3}, {1, kHuge - 2}), true);
  expect(at(kLast / 2 + 1, DType::u8, {3}, {kHuge - 1}), false);
  expect(at(kLast / 2 - 1, DType::u8, {3}, {kHuge - 1}), false);
  expect(at(kLast / 2 - 1, DType::u8, {3, 2}, {kHuge - 3, 3}), true);
  expect(at(kLast - 1, DType::u8, {2, 3}, {kMin, kHuge - 1}), false);
  expect(at(kLast / 4 + 1, DType::u64, {3}, {kHuge / 16}), false);
  expect(at(kLast / 4 - 7, DType::u64, {2}, {kHuge / 8}), true);
  expect(at(1, DType::u8, {2}, {kMin}), false);
}

// Rows of two lengths that have little in common, and no row of one meets a row of the other.
TEST(Overlap, IsTrueWhereTheStepsAreUsedUp) {
  constexpr std::int64_t kFirst = 1'000'003;
  constexpr std::int64_t kSecond = 1'000'033;
  constexpr std::int64_t kOffset = 500'001;
  constexpr std::int64_t kSteps = kOverlapSteps;
  const auto share = [](std::int64_t rows) {
    bool any = false;
    for (std::int64_t i = 0; i < rows; ++i) {
      const std::int64_t byte = i * kFirst - kOffset;
      any = any || (byte >= 0 && byte % kSecond == 0 && byte / kSecond < rows);
    }
    return any;
  };
  const auto found = [](std::int64_t rows) {
    return overlaps(at(4096, DType::u8, {rows}, {kFirst}), at(4096 + kOffset, DType::u8, {rows}, {kSecond}));
  };
  ASSERT_FALSE(share(kSteps - 10));
  EXPECT_FALSE(found(kSteps - 10));
  ASSERT_FALSE(share(2 * kSteps));
  EXPECT_TRUE(found(2 * kSteps));
}

// Small views of a small memory, with anything in them, and their bytes one by one.
class RandomViews {
 public:
  static constexpr std::size_t kBytes = 32768;
  using Bytes = std::bitset<kBytes>;

  ConstTensorView any() {
    const DType dtype = any_dtype();
    ConstTensorView view = middle(dtype, number(-24, 24));
    for (std::int64_t rank = number(0, 4); rank > 0; --rank) {
      view.shape.push_back(number(0, 19) == 0 ? 0 : number(1, 4));
      view.strides.push_back(number(-40, 40));
    }
    return view;
  }

  // Two views of one tensor, which is what most calls are given.
  std::array<ConstTensorView, 2> two_of_one() {
    ConstTensorView tensor = middle(any_dtype(), 0);
    for (std::int64_t rank = number(1, 4); rank > 0; --rank) tensor.shape.push_back(number(1, 6));
    tensor.strides = contiguous_strides(tensor.shape);
    return {part(tensor), part(tensor)};
  }

  Bytes bytes_of(const ConstTensorView& view) const {
    Bytes bytes;
    const auto element = static_cast<std::int64_t>(size_of(view.dtype));
    const std::int64_t first = static_cast<const std::byte*>(view.data) - memory_.data();
    for (std::int64_t n = 0; n < view.numel(); ++n) {
      std::int64_t left = n;
      std::int64_t offset = first;
      for (int i = 0; i < view.rank(); ++i) {
        offset += left % view.shape[i] * view.strides[i] * element;
        left /= view.shape[i];
      }
      for (std::int64_t byte = 0; byte < element; ++byte) bytes.set(static_cast<std::size_t>(offset + byte));
    }
    return bytes;
  }

 private:
  std::int64_t number(std::int64_t first, std::int64_t last) {
    return std::uniform_int_distribution<std::int64_t>(first, last)(random_);
  }
  DType any_dtype() {
    constexpr std::array<DType, 4> kDTypes = {DType::u8, DType::f16, DType::f32, DType::f64};
    return kDTypes[static_cast<std::size_t>(number(0, 3))];
  }
  ConstTensorView middle(DType dtype, std::int64_t offset) const {
    const auto element = static_cast<std::int64_t>(size_of(dtype));
    const void* const data = memory_.data() + kBytes / 2 + offset * element;
    return {data, dtype, kCpu, {}, {}};
  }
  ConstTensorView part(ConstTensorView view) {
    for (int i = 0; i < view.rank(); ++i) {
      const std::int64_t begin = number(0, view.shape[i] - 1);
      view = view.slice(i, begin, number(begin + 1, view.shape[i]), number(1, 3));
      if (number(0, 2) == 0) view = view.flip(i);
    }
    if (view.rank() > 1 && number(0, 1) == 0) {
      std::swap(view.shape[0], view.shape[1]);
      std::swap(view.strides[0], view.strides[1]);
    }
    return view;
  }

  alignas(64) std::array<std::byte, kBytes> memory_{};
  std::mt19937 random_{2024};
};

class Counts {
 public:
  void expect(const RandomViews& views, const ConstTensorView& a, const ConstTensorView& b) {
    ASSERT_TRUE(check_view(a, "a").ok() && check_view(b, "b").ok());
    const bool shared = (views.bytes_of(a) & views.bytes_of(b)).any();
    ASSERT_EQ(overlaps(a, b), shared)
        << a.to_string() << " and " << b.to_string() << ", "
        << static_cast<const std::byte*>(b.data) - static_cast<const std::byte*>(a.data) << " bytes behind";
    overlapping_ += shared ? 1 : 0;
    woven_ += !shared && ranges_meet(a, b) ? 1 : 0;
  }
  // Neither answer is rare, or the comparison says nothing.
  void expect_many_of_each() const {
    EXPECT_GT(overlapping_, 1000);
    EXPECT_GT(woven_, 1000);
  }

 private:
  static bool ranges_meet(const ConstTensorView& a, const ConstTensorView& b) {
    const std::byte* const data_a = static_cast<const std::byte*>(a.data);
    const std::byte* const data_b = static_cast<const std::byte*>(b.data);
    return a.numel() > 0 && b.numel() > 0 && data_a + byte_range(a).first < data_b + byte_range(b).last &&
           data_b + byte_range(b).first < data_a + byte_range(a).last;
  }
  int overlapping_ = 0;
  int woven_ = 0;
};

TEST(Overlap, IsThatOfTheBytesOfAnyViews) {
  RandomViews views;
  Counts counts;
  for (int i = 0; i < 12'000 && !testing::Test::HasFatalFailure(); ++i) {
    const ConstTensorView a = views.any();
    const ConstTensorView b = views.any();
    counts.expect(views, a, b);
  }
  counts.expect_many_of_each();
}

TEST(Overlap, IsThatOfTheBytesOfPartsOfATensor) {
  RandomViews views;
  Counts counts;
  for (int i = 0; i < 12'000 && !testing::Test::HasFatalFailure(); ++i) {
    const auto [a, b] = views.two_of_one();
    counts.expect(views, a, b);
  }
  counts.expect_many_of_each();
}

}  // namespace
}  // namespace rooftile
