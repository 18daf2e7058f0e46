// What each judge lets pass and what it does not, by tensors written by hand. tests/lab/kinds has kernels for them.
#include "rooftile/cases/judges.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "tests/cases/tensors.h"

namespace rooftile {
namespace {

using test::tensor_of;
using test::tensors;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::string found(const Judge& judge, const std::vector<HostTensor>& outputs) {
  return judge(outputs).mismatch;
}

Expected moved(std::vector<float> values) {
  Expected expected;
  expected.exact = tensor_of(values);
  expected.bitwise = true;
  return expected;
}

std::vector<Expected> one(Expected expected) {
  std::vector<Expected> all;
  all.push_back(std::move(expected));
  return all;
}

TEST(Judges, MovedFloatsAreComparedBitForBit) {
  const Judge judge = element_by_element({"y"}, one(moved({0.0f, kNan, 1.0f})));
  EXPECT_EQ(found(judge, tensors(tensor_of<float>({0.0f, kNan, 1.0f}))), "");
  EXPECT_NE(found(judge, tensors(tensor_of<float>({-0.0f, kNan, 1.0f}))).find("y element 0"),
            std::string::npos);
  const auto payload = std::bit_cast<float>(std::bit_cast<std::uint32_t>(kNan) | 1u);
  EXPECT_NE(found(judge, tensors(tensor_of<float>({0.0f, payload, 1.0f}))).find("y element 1"),
            std::string::npos);
  EXPECT_TRUE(judge(tensors(tensor_of<float>({0.0f, payload, 1.0f}))).nan_bits_alone);
  EXPECT_FALSE(judge(tensors(tensor_of<float>({-0.0f, payload, 1.0f}))).nan_bits_alone);
  EXPECT_FALSE(judge(tensors(tensor_of<float>({0.0f, payload, 2.0f}))).nan_bits_alone);
  EXPECT_NE(found(judge, tensors(tensor_of<double>({0.0, 0.0, 1.0}))), "") << "another dtype";
  EXPECT_NE(found(judge, tensors(tensor_of<float>({0.0f, kNan}))), "") << "another size";
}

TEST(Judges, SampledElementsAloneAreLookedAt) {
  Expected expected;
  expected.exact = tensor_of<double>({2.0, 9.0});
  expected.indices = {2, 9};
  expected.factor = 0;
  const Judge judge = element_by_element({"y"}, one(std::move(expected)));
  std::vector<float> y(10);
  std::iota(y.begin(), y.end(), 0.0f);
  EXPECT_EQ(judge(tensors(tensor_of(y))).sampled, "2 of 10 elements");
  EXPECT_EQ(found(judge, tensors(tensor_of(y))), "");
  y[3] = kNan;
  EXPECT_EQ(found(judge, tensors(tensor_of(y))), "");
  y[9] = 8;
  EXPECT_NE(found(judge, tensors(tensor_of(y))).find("y element 9"), std::string::npos);
}

TEST(Judges, EveryElementMayHaveAFloorOfItsOwn) {
  Expected expected;
  expected.exact = tensor_of<double>({0.0, 0.0});
  expected.floors = tensor_of<double>({1.0, 0.001});
  const Judge judge = element_by_element({"y"}, one(std::move(expected)));
  EXPECT_EQ(found(judge, tensors(tensor_of<float>({0.9f, 0.0f}))), "");
  EXPECT_NE(found(judge, tensors(tensor_of<float>({0.9f, 0.9f}))).find("y element 1"), std::string::npos);
}

TEST(Judges, SampledIndicesHoldTheCornersOfTiles) {
  const SampledMatrix matrix{.rows = 1000, .columns = 700, .tile = 128, .count = 4096};
  const std::vector<std::int64_t> indices = sampled_indices(matrix, 1);
  EXPECT_GE(indices.size(), 4096u);
  EXPECT_LE(indices.size(), 4200u);
  EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
  EXPECT_EQ(std::adjacent_find(indices.begin(), indices.end()), indices.end());
  for (const std::int64_t row : {0, 127, 896, 895, 999}) {
    for (const std::int64_t column : {0, 127, 640, 639, 699})
      EXPECT_TRUE(std::binary_search(indices.begin(), indices.end(), row * 700 + column))
          << row << " " << column;
  }
  EXPECT_EQ(sampled_indices({.rows = 3, .columns = 5}, 1).size(), 15u);
  EXPECT_TRUE(sampled_indices({.rows = 0, .columns = 5}, 1).empty());
}

TEST(Judges, FreivaldsFindsOneElementOfAMillion) {
  constexpr std::int64_t kSide = 1000;
  std::vector<float> c(kSide * kSide);
  for (std::size_t i = 0; i < c.size(); ++i) c[i] = static_cast<float>(i % 17) - 8.0f;
  const HostTensor right = tensor_of(c);
  const LinearMatrix matrix{.name = "c",
                            .rows = kSide,
                            .columns = kSide,
                            .product =
                                [&](std::span<const double> r) {
                                  std::vector<double> product(kSide);
                                  for (std::int64_t i = 0; i < kSide * kSide; ++i)
                                    product[static_cast<std::size_t>(i / kSide)] +=
                                        right.at(i) * r[static_cast<std::size_t>(i % kSide)];
                                  return product;
                                },
                            .tolerance = 1e-4};
  const Judge judge = freivalds(matrix, 7);
  EXPECT_EQ(found(judge, tensors(tensor_of(c))), "");
  c[123456] += 0.1f;
  EXPECT_NE(found(judge, tensors(tensor_of(c))).find("row 123"), std::string::npos);
  c[123456] = kNan;
  EXPECT_NE(found(judge, tensors(tensor_of(c))).find("row 123"), std::string::npos);
}

TEST(Judges, SortedPairs) {
  const HostTensor keys = tensor_of<float>({2.0f, kNan, 0.0f, 2.0f, -0.0f});
  const HostTensor values = tensor_of<std::int32_t>({0, 1, 2, 3, 4});
  const Judge stable = sorted_pairs({.keys = &keys, .values = &values});
  const auto with = [](std::vector<float> k, std::vector<std::int32_t> v) {
    return tensors(tensor_of(k), tensor_of(v));
  };
  EXPECT_EQ(found(stable, with({0.0f, -0.0f, 2.0f, 2.0f, kNan}, {2, 4, 0, 3, 1})), "");
  EXPECT_NE(found(stable, with({0.0f, -0.0f, 2.0f, 2.0f, kNan}, {2, 4, 3, 0, 1})).find("stable"),
            std::string::npos);
  EXPECT_NE(found(stable, with({-0.0f, 0.0f, 2.0f, 2.0f, kNan}, {4, 2, 0, 3, 1})), "");
  EXPECT_NE(found(stable, with({kNan, 0.0f, -0.0f, 2.0f, 2.0f}, {1, 2, 4, 0, 3})).find("not in order"),
            std::string::npos);
  EXPECT_NE(found(stable, with({0.0f, 0.0f, 2.0f, 2.0f, kNan}, {2, 4, 0, 3, 1})).find("permutation"),
            std::string::npos);
  const Judge any = sorted_pairs({.keys = &keys, .values = &values, .stable = false});
  EXPECT_EQ(found(any, with({-0.0f, 0.0f, 2.0f, 2.0f, kNan}, {4, 2, 3, 0, 1})), "");
  EXPECT_NE(found(any, with({-0.0f, 0.0f, 2.0f, 2.0f, kNan}, {2, 4, 3, 0, 1})), "") << "values of other keys";
  const Judge falling = sorted_pairs({.keys = &keys, .values = &values, .falling = true});
  EXPECT_EQ(found(falling, with({kNan, 2.0f, 2.0f, 0.0f, -0.0f}, {1, 0, 3, 2, 4})), "");
  const HostTensor wide = tensor_of<std::int64_t>({(std::int64_t{1} << 60) + 1, std::int64_t{1} << 60});
  const Judge of_wide = sorted_pairs({.keys = &wide});
  EXPECT_EQ(
      found(of_wide, tensors(tensor_of<std::int64_t>({std::int64_t{1} << 60, (std::int64_t{1} << 60) + 1}))),
      "");
  EXPECT_NE(
      found(of_wide, tensors(tensor_of<std::int64_t>({(std::int64_t{1} << 60) + 1, std::int64_t{1} << 60}))),
      "");
}

TEST(Judges, TopK) {
  const HostTensor in = tensor_of<float>({1, 5, 5, 2, kNan, 0}, {2, 3});
  const Judge judge = top_k({.in = &in, .k = 2});
  const auto with = [](std::vector<float> v, std::vector<std::int64_t> i) {
    return tensors(tensor_of(v, {2, 2}), tensor_of(i, {2, 2}));
  };
  EXPECT_EQ(found(judge, with({5, 5, kNan, 2}, {1, 2, 1, 0})), "");
  EXPECT_EQ(found(judge, with({5, 5, kNan, 2}, {2, 1, 1, 0})), "") << "ties in any order";
  EXPECT_NE(found(judge, with({5, 5, kNan, 2}, {1, 1, 1, 0})).find("taken before"), std::string::npos);
  EXPECT_NE(found(judge, with({5, 1, kNan, 2}, {1, 0, 1, 0})).find("not the 2. largest"), std::string::npos);
  EXPECT_NE(found(judge, with({5, 5, kNan, 2}, {1, 2, 1, 3})).find("outside"), std::string::npos);
  EXPECT_NE(found(judge, with({5, 5, kNan, 2}, {1, 0, 1, 0})).find("another value"), std::string::npos);

  const Judge stable = top_k({.in = &in, .k = 2, .stable = true});
  EXPECT_EQ(found(stable, with({5, 5, kNan, 2}, {1, 2, 1, 0})), "");
  EXPECT_NE(found(stable, with({5, 5, kNan, 2}, {2, 1, 1, 0})).find("comes first"), std::string::npos);
  const Judge unsorted = top_k({.in = &in, .k = 2, .sorted = false, .stable = true});
  EXPECT_EQ(found(unsorted, with({5, 5, 2, kNan}, {2, 1, 0, 1})), "");
  EXPECT_NE(found(unsorted, with({5, 5, 2, 0}, {2, 1, 0, 2})).find("not the 1. largest"), std::string::npos);
  const Judge smallest = top_k({.in = &in, .k = 2, .largest = false});
  EXPECT_EQ(found(smallest, with({1, 5, 0, 2}, {0, 2, 2, 0})), "");
  EXPECT_NE(found(smallest, with({1, 5, 2, 0}, {0, 2, 0, 2})).find("not the 1. smallest"), std::string::npos);
}

TEST(Judges, Selected) {
  const auto judge = [](bool in_order) {
    return selected({.chosen = tensor_of<std::int32_t>({3, 1}), .in_order = in_order});
  };
  const auto with = [](std::vector<std::int32_t> y, std::int64_t count) {
    return tensors(tensor_of(y), tensor_of<std::int64_t>({count}));
  };
  EXPECT_EQ(found(judge(true), with({3, 1, -99}, 2)), "") << "what lies behind is nobody's business";
  EXPECT_NE(found(judge(true), with({1, 3, -99}, 2)), "");
  EXPECT_EQ(found(judge(false), with({1, 3, -99}, 2)), "");
  EXPECT_NE(found(judge(false), with({1, 1, -99}, 2)), "");
  EXPECT_NE(found(judge(true), with({3, 1, 0}, 3)).find("count"), std::string::npos);
  // One of two is chosen; the other must stand behind it.
  const Judge partition = selected({.chosen = tensor_of<std::int32_t>({3, 1}), .count = 1});
  EXPECT_EQ(found(partition, with({3, 1, -99}, 1)), "");
  EXPECT_NE(found(partition, with({3, 1, -99}, 2)).find("count"), std::string::npos);
  EXPECT_NE(found(partition, with({3, 2, -99}, 1)), "");
}

TEST(Judges, BinomialIntervalIsExact) {
  // Tails of Binomial(100, 0.3) by direct summation.
  constexpr double kMiss = 1e-6;
  const CountInterval interval = binomial_interval(100, 0.3, kMiss);
  const auto probability = [](int hits) {
    double p = 1;
    for (int i = 0; i < hits; ++i) p *= static_cast<double>(100 - i) / (i + 1);
    return p * std::pow(0.3, hits) * std::pow(0.7, 100 - hits);
  };
  double below = 0;
  for (int i = 0; i < interval.low; ++i) below += probability(i);
  EXPECT_LE(below, kMiss / 2);
  EXPECT_GT(below + probability(static_cast<int>(interval.low)), kMiss / 2);
  double above = 0;
  for (int i = 100; i > interval.high; --i) above += probability(i);
  EXPECT_LE(above, kMiss / 2);
  EXPECT_GT(above + probability(static_cast<int>(interval.high)), kMiss / 2);
  EXPECT_EQ(binomial_interval(10, 0.0, kMiss).high, 0);
  EXPECT_EQ(binomial_interval(10, 1.0, kMiss).low, 10);
}

TEST(Judges, DistributionsKnowWhatCannotBeDrawn) {
  const Judge judge = distributed(
      {.name = "y", .probabilities = {0.5, 0.5}, .outcome = [](const HostTensor& y, std::int64_t i) {
         const double value = y.at(i);
         return value == 0 ? 0 : value == 1 ? 1 : -1;
       }});
  std::vector<float> y(1000);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 2);
  EXPECT_EQ(found(judge, tensors(tensor_of(y))), "");
  for (std::size_t i = 0; i < 250; ++i) y[i] = 0;
  EXPECT_NE(found(judge, tensors(tensor_of(y))).find("was drawn"), std::string::npos);
  y[17] = kNan;
  EXPECT_NE(found(judge, tensors(tensor_of(y))).find("cannot be drawn"), std::string::npos);
}

TEST(Judges, GradientsByDifferences) {
  const HostTensor x = tensor_of<float>({1, -2, 3});
  const auto squares = [](std::span<const double> v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; };
  const Judge judge = gradient({.name = "dx", .x = &x, .loss = squares, .tolerance = 1e-6}, 1);
  EXPECT_EQ(found(judge, tensors(tensor_of<float>({2, -4, 6}))), "");
  EXPECT_NE(found(judge, tensors(tensor_of<float>({2, 4, 6}))), "");
  EXPECT_NE(found(judge, tensors(tensor_of<float>({2, kNan, 6}))), "");
}

TEST(Judges, AllOfThemMustAgree) {
  const Judge judge = all_of({element_by_element({"y"}, one(moved({1.0f}))), [](std::span<const HostTensor>) {
                                return Judgement{.mismatch = "no", .sampled = "some"};
                              }});
  EXPECT_EQ(found(judge, tensors(tensor_of<float>({1.0f}))), "no");
  EXPECT_NE(found(judge, tensors(tensor_of<float>({2.0f}))).find("y element 0"), std::string::npos);
  const auto says = [](Judgement judgement) {
    return Judge([judgement](std::span<const HostTensor>) { return judgement; });
  };
  const std::vector<HostTensor> none;
  const Judgement both = all_of({says({.results = {5, 1}}), says({.results = {3}})})(none);
  EXPECT_EQ(both.results, (std::vector<std::int64_t>{3, 1}));
  EXPECT_TRUE(all_of({says({.mismatch = "nan", .nan_bits_alone = true}), says({})})(none).nan_bits_alone);
  const Judgement worse =
      all_of({says({.mismatch = "nan", .nan_bits_alone = true}), says({.mismatch = "no"})})(none);
  EXPECT_FALSE(worse.nan_bits_alone);
  EXPECT_EQ(worse.mismatch, "no");
}

TEST(Judges, FewerOutputsThanTheyJudgeAreAMismatch) {
  const HostTensor in = tensor_of<float>({1, 2}, {1, 2});
  EXPECT_NE(found(top_k({.in = &in, .k = 1}), tensors(tensor_of<float>({2}, {1, 1}))), "");
  EXPECT_NE(found(selected({.chosen = tensor_of<float>({2})}), tensors(tensor_of<float>({2}))), "");
}

}  // namespace
}  // namespace rooftile
