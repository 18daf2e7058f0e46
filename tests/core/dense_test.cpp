#include "rooftile/core/dense.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace rooftile {
namespace {

class DensePair : public testing::Test {
 protected:
  [[nodiscard]] TensorView view(int first, std::int64_t n, std::int64_t stride = 1,
                                DType dtype = DType::f32) {
    return {memory_.data() + first, dtype, kCpu, Extents{n}, Extents{stride}};
  }
  std::array<float, 16> memory_{};
};

TEST_F(DensePair, TakesTensorsSideBySide) {
  EXPECT_TRUE(check_dense_pair(view(0, 8), view(8, 8), DType::f32).ok());
  EXPECT_TRUE(check_dense_pair(view(0, 0), view(0, 0), DType::f32).ok());
}

TEST_F(DensePair, SaysWhatIsWrong) {
  EXPECT_EQ(check_dense_pair(view(0, 8, 1, DType::i32), view(8, 8), DType::f32).rule(), "x must be f32");
  EXPECT_EQ(check_dense_pair(view(0, 8), view(8, 8, 1, DType::i32), DType::f32).rule(), "y must be f32");
  EXPECT_EQ(check_dense_pair(view(0, 4), view(8, 4, 2), DType::f32).rule(),
            "y must be row-major without gaps: copy it first");
  EXPECT_EQ(check_dense_pair(view(0, 8), view(7, 8), DType::f32).rule(), "y must not overlap x");
  TensorView elsewhere = view(8, 8);
  elsewhere.device = kSim;
  EXPECT_EQ(check_dense_pair(view(0, 8), elsewhere, DType::f32).rule(), "x and y must be on the same device");
  EXPECT_FALSE(check_dense_pair(view(0, -1), view(8, 8), DType::f32).ok());
}

TEST_F(DensePair, MayHaveToBeAlike) {
  EXPECT_TRUE(check_dense_alike(view(0, 8), view(8, 8), DType::f32).ok());
  EXPECT_EQ(check_dense_alike(view(0, 8), view(8, 4), DType::f32).rule(), "y must have the shape of x");
  EXPECT_EQ(check_dense_alike(view(0, 8), view(7, 4), DType::f32).rule(), "y must not overlap x");
}

TEST_F(DensePair, AnOutputIsLikeTheFirstInput) {
  const std::array<TensorSpec, 2> inputs = {{{DType::f32, Extents{3, 4}}, {DType::i32, Extents{5}}}};
  const auto outputs = infer_like_first(inputs, {});
  ASSERT_TRUE(outputs.ok());
  ASSERT_EQ(outputs->size(), 1u);
  EXPECT_EQ(outputs->front().dtype, DType::f32);
  EXPECT_TRUE(outputs->front().shape == (Extents{3, 4}));
}

TEST_F(DensePair, IsDescribed) { EXPECT_EQ(describe_pair(view(0, 8), view(8, 4)), "x f32[8], y f32[4]"); }

}  // namespace
}  // namespace rooftile
