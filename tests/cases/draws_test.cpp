#include "rooftile/cases/draws.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>

#include "tests/cases/tensors.h"

namespace rooftile {
namespace {

HostTensor drawn(const Draw& draw, DType dtype, const Extents& shape, std::uint64_t seed = 1) {
  HostTensor tensor = HostTensor::create(dtype, shape).value();
  const Status status = draw.fill(tensor, seed, {});
  EXPECT_TRUE(status.ok()) << status;
  return tensor;
}

TEST(Draws, AreTheSameInEveryRunAndOthersForAnotherSeed) {
  for (const Draw& draw : {drawn_indices(0, 100), drawn_permutation(), drawn_sorted(Fill::normal)}) {
    const HostTensor a = drawn(draw, DType::i32, {500});
    EXPECT_EQ(std::memcmp(a.data(), drawn(draw, DType::i32, {500}).data(), a.bytes()), 0) << draw.name;
    EXPECT_NE(std::memcmp(a.data(), drawn(draw, DType::i32, {500}, 2).data(), a.bytes()), 0) << draw.name;
  }
}

// Rows and columns of one matrix, two lists to merge: a kernel that takes one for the other must not pass.
TEST(Draws, OfTwoSlotsOfACaseDiffer) {
  EXPECT_NE(draw_seed(1, 0), draw_seed(1, 1));
  EXPECT_NE(draw_seed(1, 0), draw_seed(2, 0));
  const HostTensor rows = drawn(drawn_indices(0, 1000), DType::i32, {100}, draw_seed(1, 0));
  const HostTensor columns = drawn(drawn_indices(0, 1000), DType::i32, {100}, draw_seed(1, 1));
  EXPECT_NE(std::memcmp(rows.data(), columns.data(), rows.bytes()), 0);
}

TEST(Draws, IndicesStayInTheirRangeUnlessAsked) {
  const HostTensor inside = drawn(drawn_indices(3, 10), DType::i64, {1000});
  std::set<double> seen;
  for (std::int64_t i = 0; i < 1000; ++i) seen.insert(inside.at(i));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.begin(), 3);
  EXPECT_EQ(*seen.rbegin(), 9);
  const HostTensor some = drawn(drawn_indices(0, 50, 8), DType::i32, {2000});
  int outside = 0;
  std::set<double> which;
  for (std::int64_t i = 0; i < 2000; ++i) {
    if (some.at(i) >= 0 && some.at(i) < 50) continue;
    ++outside;
    which.insert(some.at(i));
  }
  EXPECT_NEAR(outside, 250, 60);
  EXPECT_EQ(which, (std::set<double>{-2147483648.0, -1.0, 50.0, 2147483647.0}));
  HostTensor floats = HostTensor::create(DType::f32, {3}).value();
  EXPECT_FALSE(drawn_indices(0, 5).fill(floats, 1, {}).ok());
  HostTensor none = HostTensor::create(DType::i32, {3}).value();
  EXPECT_FALSE(drawn_indices(0, 0).fill(none, 1, {}).ok());
  const HostTensor bytes = drawn(drawn_indices(0, 200, 2), DType::u8, {500});
  for (std::int64_t i = 0; i < 500; ++i) {
    ASSERT_TRUE(bytes.at(i) < 200 || bytes.at(i) == 200 || bytes.at(i) == 255);
  }
}

TEST(Draws, APermutationHasEveryNumberOnce) {
  const HostTensor order = drawn(drawn_permutation(), DType::u16, {1000});
  std::set<double> seen;
  for (std::int64_t i = 0; i < 1000; ++i) seen.insert(order.at(i));
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(*seen.rbegin(), 999);
  HostTensor narrow = HostTensor::create(DType::i8, {300}).value();
  EXPECT_FALSE(drawn_permutation().fill(narrow, 1, {}).ok());
}

TEST(Draws, SortedOnesRise) {
  const HostTensor x = drawn(drawn_sorted(Fill::nan_inside), DType::f32, {1000});
  for (std::int64_t i = 1; i < 1000; ++i) ASSERT_TRUE(x.at(i - 1) <= x.at(i) || std::isnan(x.at(i))) << i;
  EXPECT_TRUE(std::isnan(x.at(999)));
}

TEST(Draws, CumulativeLengthsEndAtTheirTotalAndHaveAnEmptyRow) {
  const HostTensor cuts = drawn(drawn_cumulative_lengths(100000), DType::i32, {21});
  EXPECT_EQ(cuts.at(0), 0);
  EXPECT_EQ(cuts.at(20), 100000);
  int empty = 0;
  for (std::int64_t i = 1; i < 21; ++i) {
    ASSERT_LE(cuts.at(i - 1), cuts.at(i));
    empty += cuts.at(i - 1) == cuts.at(i) ? 1 : 0;
  }
  EXPECT_GE(empty, 1);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    for (const std::int64_t n : {4, 5, 8, 10, 21}) {
      const HostTensor some = drawn(drawn_cumulative_lengths(100000), DType::i32, {n}, seed);
      ASSERT_EQ(some.at(n / 2 - 1), some.at(n / 2)) << seed << " " << n;
      ASSERT_EQ(some.at(0), 0);
      ASSERT_EQ(some.at(n - 1), 100000);
      for (std::int64_t i = 1; i < n; ++i) ASSERT_LE(some.at(i - 1), some.at(i));
    }
  }
  EXPECT_EQ(drawn(drawn_cumulative_lengths(5), DType::i32, {2}).at(1), 5);
}

TEST(Draws, PagesAreTakenOnce) {
  const HostTensor pages = drawn(drawn_pages(100), DType::i32, {4, 20});
  std::set<double> seen;
  for (std::int64_t i = 0; i < 80; ++i) seen.insert(pages.at(i));
  EXPECT_EQ(seen.size(), 80u);
  EXPECT_LT(*seen.rbegin(), 100);
  HostTensor more = HostTensor::create(DType::i32, {101}).value();
  EXPECT_FALSE(drawn_pages(100).fill(more, 1, {}).ok());
}

TEST(Draws, BoxesLieInThePictureSomeEmptySomeTwice) {
  const HostTensor boxes = drawn(drawn_boxes(640, 480), DType::f32, {200, 4});
  int empty = 0;
  std::set<double> corners;
  for (std::int64_t i = 0; i < 200; ++i) {
    ASSERT_LE(boxes.at(4 * i), boxes.at(4 * i + 2));
    ASSERT_LE(boxes.at(4 * i + 1), boxes.at(4 * i + 3));
    ASSERT_LE(boxes.at(4 * i + 2), 640);
    ASSERT_LE(boxes.at(4 * i + 3), 480);
    empty += boxes.at(4 * i) == boxes.at(4 * i + 2) ? 1 : 0;
    corners.insert(boxes.at(4 * i));
  }
  EXPECT_GT(empty, 5);
  EXPECT_LT(corners.size(), 195u);
}

TEST(Draws, ImagesHaveFlatAreasAndNoise) {
  const HostTensor image = drawn(drawn_image(), DType::u8, {96, 128, 3});
  EXPECT_EQ(image.at(std::int64_t{70} * 3), 127);
  std::set<double> values;
  for (std::int64_t i = 0; i < image.numel(); ++i) values.insert(image.at(i));
  EXPECT_GT(values.size(), 250u);
}

TEST(Draws, OnesThatAreMadeSeeTheTensorsInFront) {
  const std::vector<HostTensor> before = test::tensors(test::tensor_of<float>({1, 2, 3}));
  const Draw doubled =
      made_from("twice the first", [](HostTensor& tensor, std::span<const HostTensor> others) -> Status {
        for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.set(i, 2 * others[0].at(i));
        return {};
      });
  HostTensor tensor = HostTensor::create(DType::f32, {3}).value();
  ASSERT_TRUE(doubled.fill(tensor, 1, before).ok());
  EXPECT_EQ(tensor.at(2), 6);
}

}  // namespace
}  // namespace rooftile
