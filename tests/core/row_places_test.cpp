// Where the rows of tensors lie once their leading axes are two at most.
#include "rooftile/core/rows.h"

#include <gtest/gtest.h>

#include <vector>

#include "rooftile/core/view.h"

namespace rooftile {
namespace {

ConstTensorView strided(const Extents& shape, const Extents& strides) {
  static std::vector<float> memory(1);
  ConstTensorView x = contiguous_view<void>(static_cast<void*>(memory.data()), DType::f32, kCpu, shape);
  x.strides = strides;
  return x;
}
ConstTensorView absent() { return {}; }

// Every row's place by the two pitches, against its index in the leading axes.
void expect_places(const ConstTensorView& x, const Rows<1>& rows) {
  ASSERT_TRUE(rows.fits);
  const int last = x.rank() - 1;
  for (std::int64_t r = 0; r < rows.count; ++r) {
    std::int64_t place = 0;
    std::int64_t rest = r;
    for (int axis = last - 1; axis >= 0; --axis) {
      place += rest % x.shape[axis] * x.strides[axis];
      rest /= x.shape[axis];
    }
    const RowPitch& found = rows.tensors[0];
    EXPECT_EQ(r / rows.inner * found.outer_pitch + r % rows.inner * found.pitch, place) << r;
  }
}

TEST(Rows, AVectorIsOneRow) {
  const ConstTensorView x = strided({7}, {3});
  const Rows<1> rows = rows_of<1>({x});
  EXPECT_EQ(rows.count, 1);
  EXPECT_EQ(rows.length, 7);
  EXPECT_EQ(rows.tensors[0].step, 3);
}

TEST(Rows, LeadingAxesBecomeTwoAtMost) {
  for (const auto& [shape, strides] :
       std::vector<std::pair<Extents, Extents>>{{{2, 3, 4, 5}, {60, 20, 5, 1}},
                                                {{2, 3, 4, 5}, {100, 20, 5, 1}},
                                                {{2, 3, 4, 5}, {90, 30, 5, 1}},
                                                {{2, 1, 4, 5}, {0, 77, -5, 1}},
                                                {{6, 4, 5}, {5, 30, 1}},
                                                {{1, 1, 5}, {9, 9, 1}}}) {
    const ConstTensorView x = strided(shape, strides);
    expect_places(x, rows_of<1>({x}));
  }
}

TEST(Rows, MoreThanTwoStridesDoNotFit) {
  EXPECT_FALSE(rows_of<1>({strided({2, 3, 4, 5}, {1000, 100, 10, 1})}).fits);
}

// Neighbours become one where all tensors allow it; one that is absent has no say.
TEST(Rows, OfSeveralTensors) {
  const ConstTensorView dense = strided({2, 3, 5}, {15, 5, 1});
  const ConstTensorView expanded = strided({2, 3, 5}, {0, 5, 1});
  const Rows<3> rows = rows_of<3>({dense, expanded, absent()});
  EXPECT_TRUE(rows.fits);
  EXPECT_EQ(rows.inner, 3);
  EXPECT_EQ(rows.tensors[0].outer_pitch, 15);
  EXPECT_EQ(rows.tensors[1].outer_pitch, 0);
  EXPECT_EQ((rows_of<2>({dense, absent()}).inner), 6);
}

TEST(Rows, NothingIsEmpty) {
  EXPECT_TRUE(rows_of<1>({strided({0, 5}, {5, 1})}).is_empty());
  EXPECT_TRUE(rows_of<1>({strided({3, 0}, {0, 1})}).is_empty());
  EXPECT_FALSE(rows_of<1>({strided({3, 1}, {1, 1})}).is_empty());
}

}  // namespace
}  // namespace rooftile
