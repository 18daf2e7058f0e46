#include "rooftile/core/axes.h"

#include <gtest/gtest.h>

namespace rooftile {
namespace {

Extents without(const Extents& shape, const Axes& axes, bool keepdims = false) {
  Extents rest;
  append_without(shape, AxisSet(axes, shape.rank()), keepdims, rest);
  return rest;
}

TEST(Axes, CountFromEitherEnd) {
  const AxisSet axes({0, -1}, 4);
  EXPECT_TRUE(axes.contains(0));
  EXPECT_FALSE(axes.contains(1));
  EXPECT_FALSE(axes.contains(2));
  EXPECT_TRUE(axes.contains(3));
}

TEST(Axes, NoneIsAll) {
  const AxisSet axes({}, 3);
  for (int d = 0; d < 3; ++d) EXPECT_TRUE(axes.contains(d));
  EXPECT_TRUE(without({2, 3, 4}, {}) == Extents{});
  EXPECT_TRUE(without({}, {}) == Extents{});
}

TEST(Axes, LeaveTheShapeOrAOne) {
  EXPECT_TRUE(without({2, 3, 4}, {1}) == (Extents{2, 4}));
  EXPECT_TRUE(without({2, 3, 4}, {-1, 0}) == (Extents{3}));
  EXPECT_TRUE(without({2, 3, 4}, {-1, 0}, true) == (Extents{1, 3, 1}));
  EXPECT_TRUE(without({2, 0, 4}, {0}) == (Extents{0, 4}));
}

TEST(Axes, ThatAreNotThereOrTwiceAreOneClearLine) {
  EXPECT_TRUE(check_axes({}, 0, "in").ok());
  EXPECT_TRUE(check_axes({0, 1, -1}, 3, "in").ok());
  EXPECT_EQ(check_axes({3}, 3, "in").rule(),
            "in has no axis 3: its axes are 0 to 2, or -1 to -3 from the last");
  EXPECT_EQ(check_axes({-4}, 3, "x").rule(),
            "x has no axis -4: its axes are 0 to 2, or -1 to -3 from the last");
  EXPECT_EQ(check_axes({0}, 0, "in").rule(), "in has no axis 0: it is a single element");
  EXPECT_EQ(check_axes({1, -2}, 3, "in").rule(), "axis -2 of in is named twice: name each once");
}

}  // namespace
}  // namespace rooftile
