// What is special to select: its edges, and its contract, on every device that is usable here. The cases themselves run
// through the lab.
#include "rooftile/ops/select/select.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

class SelectTest : public OnEveryDevice {
 protected:
  // The first `count` elements of out, of a partition all.
  template <class T>
  std::vector<T> chosen(const std::vector<T>& values, SelectArgs options,
                        const std::vector<std::uint8_t>& flags = {}) {
    const Tensor in = Tensor::from(context(), view(values)).value();
    Tensor flags_there;
    if (!flags.empty()) {
      flags_there = Tensor::from(context(), view(flags)).value();
      options.flags = flags_there;
    }
    Result<TwoTensors> result = select(context(), in, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    const auto& [out, count] = *result;
    std::vector<T> all = out.template to_vector<T>().value();
    count_ = count.template to_vector<std::int64_t>().value()[0];
    if (options.op != SelectOp::partition) all.resize(static_cast<std::size_t>(count_));
    return all;
  }
  std::string refusal(const SelectArgs& args) {
    const Status status = select(context(), args);
    return status.ok() ? "accepted" : status.rule();
  }
  std::int64_t count() const { return count_; }

  std::int64_t count_ = -1;
};

TEST_P(SelectTest, EveryOperationOfTheTextbook) {
  const std::vector<std::int32_t> x = {3, -1, 7, 7, 0, 4, 4, 4, -6};
  EXPECT_EQ(chosen(x, {}), (std::vector<std::int32_t>{3, 7, 7, 4, 4, 4}));
  EXPECT_EQ(chosen(x, {.threshold = 3.5}), (std::vector<std::int32_t>{7, 7, 4, 4, 4}));
  EXPECT_EQ(chosen(x, {.op = SelectOp::unique}), (std::vector<std::int32_t>{3, -1, 7, 0, 4, -6}));
  EXPECT_EQ(chosen(x, {.op = SelectOp::flagged}, {0, 1, 0, 255, 1, 0, 0, 0, 2}),
            (std::vector<std::int32_t>{-1, 7, 0, -6}));
  EXPECT_EQ(chosen(x, {.op = SelectOp::partition}), (std::vector<std::int32_t>{3, 7, 7, 4, 4, 4, -6, 0, -1}));
  EXPECT_EQ(count(), 6);
  EXPECT_EQ(chosen(x, {.op = SelectOp::partition}, {0, 1, 0, 255, 1, 0, 0, 0, 2}),
            (std::vector<std::int32_t>{-1, 7, 0, -6, 4, 4, 4, 7, 3}));
  EXPECT_EQ(count(), 4);
}

TEST_P(SelectTest, NothingOfNothing) {
  EXPECT_EQ(chosen<float>({}, {}), std::vector<float>());
  EXPECT_EQ(count(), 0);
  EXPECT_EQ(chosen<float>({}, {.op = SelectOp::unique}), std::vector<float>());
  EXPECT_EQ(count(), 0);
}

TEST_P(SelectTest, NaNsAndZerosOfEitherSign) {
  const std::vector<float> x = {NAN, NAN, 0.0f, -0.0f, 1.0f, INFINITY, NAN};
  const std::vector<float> y = chosen(x, {.op = SelectOp::unique});
  ASSERT_EQ(y.size(), 6u);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]) && std::isnan(y[5]));
  EXPECT_FALSE(std::signbit(y[2]));  // +0 and -0 are a run, whose first is +0
  EXPECT_EQ(chosen(x, {.threshold = -1}), (std::vector<float>{0, 0, 1, INFINITY}));
  EXPECT_EQ(chosen(x, {.threshold = NAN}), std::vector<float>());
  EXPECT_EQ(chosen(x, {.threshold = std::numeric_limits<double>::max()}), (std::vector<float>{INFINITY}));
}

TEST_P(SelectTest, ThresholdsAreRealNumbers) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(chosen<std::uint64_t>({0, 1, kMost}, {.threshold = -0.5}),
            (std::vector<std::uint64_t>{0, 1, kMost}));
  EXPECT_EQ(chosen<std::uint64_t>({0, 1, kMost}, {.threshold = 0x1p63}), (std::vector<std::uint64_t>{kMost}));
  EXPECT_EQ(chosen<std::uint64_t>({0, 1, kMost}, {.threshold = 0x1p64}), std::vector<std::uint64_t>());
  EXPECT_EQ(chosen<std::int8_t>({-128, -1, 127}, {.threshold = -128}), (std::vector<std::int8_t>{-1, 127}));
  EXPECT_EQ(chosen<std::int8_t>({-128, -1, 127}, {.threshold = 126.5}), (std::vector<std::int8_t>{127}));
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(chosen<std::int64_t>({kLow, -1, kHigh}, {.threshold = -0x1p63}),
            (std::vector<std::int64_t>{-1, kHigh}));
  EXPECT_EQ(chosen<std::int64_t>({kLow, -1, kHigh}, {.threshold = -0x1p64}),
            (std::vector<std::int64_t>{kLow, -1, kHigh}));
  EXPECT_EQ(chosen<std::int64_t>({kLow, -1, kHigh}, {.threshold = 0x1p63}), std::vector<std::int64_t>());
  EXPECT_EQ(chosen<std::int32_t>({-2, -1, 0, 126, 127, 128}, {.threshold = -1}),
            (std::vector<std::int32_t>{0, 126, 127, 128}));
  EXPECT_EQ(chosen<std::int32_t>({-2, -1, 0, 126, 127, 128}, {.threshold = 126.5}),
            (std::vector<std::int32_t>{127, 128}));
  EXPECT_EQ(chosen<std::uint32_t>({0, 4294967295u}, {.threshold = 4294967294.0}),
            (std::vector<std::uint32_t>{4294967295u}));
  EXPECT_EQ(chosen<std::uint32_t>({0, 4294967295u}, {.threshold = 4294967295.0}),
            std::vector<std::uint32_t>());
  // The float next to 0.1 is above it.
  EXPECT_EQ(chosen<float>({0.1f}, {.threshold = 0.1}).size(), 1u);
  EXPECT_EQ(chosen<float>({0.1f}, {.threshold = static_cast<double>(0.1f)}).size(), 0u);
}

TEST_P(SelectTest, WhatStandsBehindTheChosenOnesIsLeftAsItWas) {
  const std::vector<std::int32_t> x(5000, 1);
  std::vector<std::int32_t> some = x;
  for (std::size_t i = 0; i < some.size(); i += 2) some[i] = -1;
  const Tensor in = Tensor::from(context(), view(some)).value();
  Tensor out = Tensor::full(context(), {5000}, 77).value();
  Tensor number = Tensor::zeros(context(), {1}, DType::i64).value();
  ASSERT_TRUE(select(context(), {.in = in, .out = out, .count = number}).ok());
  const std::vector<std::int32_t> y = out.to_vector<std::int32_t>().value();
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], i < 2500 ? 1 : 77) << i;
}

TEST_P(SelectTest, TilesKeepTheirOrder) {
  std::vector<std::int32_t> x((1 << 21) + 77);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<std::int32_t>(i % 3 == 0 ? i : -1 - static_cast<int>(i));
  const std::vector<std::int32_t> y = chosen(x, {.threshold = -0.5});
  ASSERT_EQ(y.size(), (x.size() + 2) / 3);
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], static_cast<std::int32_t>(3 * i));
}

// Flags that lie otherwise than the vectors of `in`.
template <class T>
void expect_flags_anywhere(Context& context) {
  constexpr std::size_t kCount = 40000;
  std::vector<T> x(kCount);
  std::vector<std::uint8_t> flags(kCount + 16);
  for (std::size_t i = 0; i < kCount; ++i) x[i] = static_cast<T>(i);
  for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = static_cast<std::uint8_t>(i * 7 % 5 % 2);
  const Tensor in = Tensor::from(context, view(x)).value();
  const Tensor all_flags = Tensor::from(context, view(flags)).value();
  for (const std::int64_t off : {1, 2, 3, 8}) {
    const auto count = static_cast<std::int64_t>(kCount);
    const auto result =
        select(context, in, {.flags = all_flags.view().slice(0, off, off + count), .op = SelectOp::flagged});
    ASSERT_TRUE(result.ok()) << result.status();
    std::vector<T> expected;
    for (std::size_t i = 0; i < kCount; ++i)
      if (flags[i + static_cast<std::size_t>(off)] != 0) expected.push_back(x[i]);
    std::vector<T> got = (*result)[0].template to_vector<T>().value();
    got.resize(expected.size());
    EXPECT_EQ(got, expected) << off;
    EXPECT_EQ((*result)[1].template to_vector<std::int64_t>().value()[0], std::ssize(expected));
  }
}
TEST_P(SelectTest, FlagsMayLieAnywhere) {
  expect_flags_anywhere<std::uint8_t>(context());
  expect_flags_anywhere<std::int32_t>(context());
  expect_flags_anywhere<std::int64_t>(context());
}

TEST_P(SelectTest, BadCallsAreToldWhatToMend) {
  Tensor x = Tensor::zeros(context(), {8}, DType::f32).value();
  Tensor out = Tensor::zeros(context(), {8}, DType::f32).value();
  Tensor number = Tensor::zeros(context(), {1}, DType::i64).value();
  Tensor flags = Tensor::zeros(context(), {8}, DType::u8).value();
  EXPECT_EQ(refusal({.in = x, .out = out, .count = number, .op = SelectOp::flagged}),
            "flags must be there: op=flagged asks them");
  EXPECT_EQ(refusal({.in = x, .flags = flags, .out = out, .count = number}),
            "flags are asked by op=flagged and op=partition only: leave them out");
  EXPECT_EQ(refusal({.in = x, .out = x, .count = number}), "out must not overlap in");
  EXPECT_NE(refusal({.in = x, .out = out}).find("count"), std::string::npos);
  EXPECT_NE(refusal({.in = x,
                     .flags = flags.view().slice(0, 0, 7),
                     .out = out,
                     .count = number,
                     .op = SelectOp::flagged})
                .find("flags"),
            std::string::npos);
}

TEST_P(SelectTest, TheShapesOfItsOutputsAreKnownBefore) {
  const std::vector<float> x(9);
  const TwoSpecs specs = select_output(view(x)).value();
  EXPECT_EQ(specs[0].dtype, DType::f32);
  EXPECT_EQ(specs[0].shape, Extents{9});
  EXPECT_EQ(specs[1].dtype, DType::i64);
  EXPECT_EQ(specs[1].shape, Extents{1});
}

TEST_P(SelectTest, RecordedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be recorded";
  std::vector<std::int32_t> values((1 << 22) + 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i % 2 == 1 ? i : 0);
  const Tensor x = Tensor::from(context(), view(values)).value();
  const auto expect_right = [&](const Tensor& out, const Tensor& number) {
    const std::int64_t count = number.to_vector<std::int64_t>().value()[0];
    ASSERT_EQ(count, (std::int64_t{1} << 21) + 1);
    const std::vector<std::int32_t> y = out.to_vector<std::int32_t>().value();
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], i < static_cast<std::size_t>(count) ? 2 * static_cast<int>(i) + 1 : 0);
  };
  Tensor out = Tensor::zeros(context(), x.shape(), DType::i32).value();
  Tensor number = Tensor::zeros(context(), {1}, DType::i64).value();
  Graph graph = Graph::record(context(), [&] {
                  return select(context(), {.in = x, .out = out, .count = number});
                }).value();
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(fill_bytes(context().stream(), out.data(), 0, out.bytes()).ok());
    ASSERT_TRUE(fill_bytes(context().stream(), number.data(), 0, number.bytes()).ok());
    ASSERT_TRUE(graph.launch(context().stream()).ok());
    expect_right(out, number);
  }
  Context other = Context::create(GetParam()).value();
  Tensor second = Tensor::zeros(other, x.shape(), DType::i32).value();
  Tensor second_number = Tensor::zeros(other, {1}, DType::i64).value();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(select(context(), {.in = x, .out = out, .count = number}).ok());
    ASSERT_TRUE(select(other, {.in = x, .out = second, .count = second_number}).ok());
  }
  expect_right(out, number);
  expect_right(second, second_number);
}

INSTANTIATE_TEST_SUITE_P(Devices, SelectTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
