// What is special to access_copy: what lies behind the end of x is refused, and offsets are not summed in 64
// bits before they are checked. The cases themselves run through the lab.
#include "rooftile/lessons/access_copy/access_copy.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "rooftile/core/operator.h"

namespace rooftile {
namespace {

class AccessCopyTest : public ::testing::Test {
 protected:
  Status run(std::int64_t n, std::int64_t offset, std::int64_t stride) {
    Result<Context> context = Context::create(kCpu);
    if (!context.ok()) return context.status();
    return rooftile::run(
        access_copy_operator(), *context,
        ArgsRef::of(AccessCopyArgs{
            .x = view(x_.data(), {10}), .y = view(y_.data(), {n}), .offset = offset, .stride = stride}));
  }
  std::vector<float> x_{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::vector<float> y_ = std::vector<float>(10, -1.0f);
};

TEST_F(AccessCopyTest, TakesEveryThird) {
  ASSERT_TRUE(run(3, 2, 3).ok());
  EXPECT_EQ(y_, (std::vector<float>{2, 5, 8, -1, -1, -1, -1, -1, -1, -1}));
  ASSERT_TRUE(run(0, 10, 3).ok());
}

TEST_F(AccessCopyTest, AsksForAsManyAsThereAre) {
  EXPECT_EQ(run(4, 1, 3).rule(), "y must have the shape [3]");  // the fourth would be x[10]
  EXPECT_TRUE(run(4, 0, 3).ok());                               // the fourth is x[9]
  EXPECT_EQ(run(1, 10, 1).rule(), "y must have the shape [0]");
  // The largest numbers that the parameters take.
  constexpr std::int64_t kHuge = 1'000'000'000'000'000;
  EXPECT_EQ(run(3, 0, kHuge).rule(), "y must have the shape [1]");
  EXPECT_EQ(run(2, kHuge, kHuge).rule(),
            "offset 1000000000000000 lies behind the end of x, which has 10 elements");
}

TEST_F(AccessCopyTest, RefusesWrongNumbers) {
  EXPECT_EQ(run(1, -1, 1).rule(), "offset is -1: use an integer from 0 to 1e+15");
  EXPECT_EQ(run(1, 0, 0).rule(), "stride is 0: use an integer from 1 to 1e+15");
}

}  // namespace
}  // namespace rooftile
