// What is special to scan: its edges, and its contract, on every device that is usable here. The cases themselves run
// through the lab.
#include "rooftile/ops/scan/scan.h"
#include "tests/ops/operator_fixture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace rooftile {
namespace {

class ScanTest : public OnEveryDevice {
 protected:
  template <class T>
  std::vector<T> result(const std::vector<T>& values, const ScanArgs& options, const Extents& shape = {-1}) {
    const Tensor in = Tensor::from(context(), view(values)).value();
    Result<Tensor> out = scan(context(), in.view().reshape(shape), options);
    EXPECT_TRUE(out.ok()) << out.status().message();
    return out.ok() ? out->to_vector<T>().value() : std::vector<T>();
  }
  template <class T>
  std::string refusal(const std::vector<T>& values, const ScanArgs& options) {
    const Tensor in = Tensor::from(context(), view(values)).value();
    const Result<Tensor> out = scan(context(), in, options);
    return out.ok() ? "accepted" : out.status().rule();
  }
};

TEST_P(ScanTest, InclusiveAndExclusiveOfTheTextbook) {
  const std::vector<std::int32_t> x = {3, 1, 7, 0, 4, 1, 6, 3};
  EXPECT_EQ(result(x, {}), (std::vector<std::int32_t>{3, 4, 11, 11, 15, 16, 22, 25}));
  EXPECT_EQ(result(x, {.exclusive = true}), (std::vector<std::int32_t>{0, 3, 4, 11, 11, 15, 16, 22}));
  EXPECT_EQ(result(x, {.exclusive = true, .initial = -3}),
            (std::vector<std::int32_t>{-3, 0, 1, 8, 8, 12, 13, 19}));
}

TEST_P(ScanTest, EveryRowByItself) {
  const std::vector<std::int32_t> x = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(result(x, {}, {2, 3}), (std::vector<std::int32_t>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(result(x, {}, {3, 1, 2}), (std::vector<std::int32_t>{1, 3, 3, 7, 5, 11}));
  EXPECT_EQ(result(x, {.exclusive = true, .initial = 10}, {6, 1}), (std::vector<std::int32_t>(6, 10)));
}

TEST_P(ScanTest, WhatStandsInFrontOfNothing) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(result<float>({5, 2}, {.op = ScanOp::min, .exclusive = true}),
            (std::vector<float>{kInfinity, 5}));
  EXPECT_EQ(result<float>({5, 2}, {.op = ScanOp::max, .exclusive = true}),
            (std::vector<float>{-kInfinity, 5}));
  EXPECT_EQ(result<std::int8_t>({5, 2}, {.op = ScanOp::min, .exclusive = true}),
            (std::vector<std::int8_t>{127, 5}));
  EXPECT_EQ(result<std::int8_t>({5, 2}, {.op = ScanOp::max, .exclusive = true}),
            (std::vector<std::int8_t>{-128, 5}));
  EXPECT_EQ(result<std::uint64_t>({5, 2}, {.op = ScanOp::max, .exclusive = true}),
            (std::vector<std::uint64_t>{0, 5}));
}

TEST_P(ScanTest, IntegersWrap) {
  EXPECT_EQ(result<std::uint8_t>({200, 100, 1}, {}), (std::vector<std::uint8_t>{200, 44, 45}));
  EXPECT_EQ(result<std::int32_t>({2147483647, 1}, {}),
            (std::vector<std::int32_t>{2147483647, -2147483647 - 1}));
}

TEST_P(ScanTest, ANaNStays) {
  const std::vector<float> x = {1, 3, NAN, 7, 2};
  for (const ScanOp op : {ScanOp::sum, ScanOp::min, ScanOp::max}) {
    const std::vector<float> y = result(x, {.op = op});
    EXPECT_FALSE(std::isnan(y[1]));
    for (std::size_t i = 2; i < y.size(); ++i) EXPECT_TRUE(std::isnan(y[i])) << enum_name(op) << " at " << i;
  }
}

// A tree of three levels.
TEST_P(ScanTest, OnesCountUpAcrossTiles) {
  const std::vector<double> ones((1 << 21) + 77, 1.0);
  for (const bool exclusive : {false, true}) {
    const std::vector<double> y = result(ones, {.exclusive = exclusive});
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], static_cast<double>(i + (exclusive ? 0 : 1))) << i;
  }
}

TEST_P(ScanTest, BadCallsAreToldWhatToMend) {
  EXPECT_EQ(refusal<std::uint8_t>({1}, {.initial = 256}),
            "initial must be a whole number that u8 holds, of at most 2^53");
  EXPECT_EQ(refusal<std::uint32_t>({1}, {.initial = -1}),
            "initial must be a whole number that u32 holds, of at most 2^53");
  EXPECT_EQ(refusal<std::int32_t>({1}, {.initial = 0.5}),
            "initial must be a whole number that i32 holds, of at most 2^53");
  EXPECT_EQ(refusal<std::int64_t>({1}, {.initial = NAN}),
            "initial must be a whole number that i64 holds, of at most 2^53");
  Tensor data = Tensor::zeros(context(), {8}, DType::f32).value();
  const Status overlap =
      scan(context(), {.in = data.view().slice(0, 0, 6), .out = data.view().slice(0, 2, 8)});
  EXPECT_EQ(overlap.rule(), "out must be in itself, with its shape and strides, or not overlap it");
  const Status gaps =
      scan(context(), {.in = data.view().slice(0, 0, 8, 2), .out = data.view().slice(0, 0, 4)});
  EXPECT_NE(gaps.rule().find("in"), std::string::npos) << gaps;
}

TEST_P(ScanTest, RecordedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be recorded";
  const std::vector<std::int32_t> ones((1 << 22) + 3, 1);
  const Tensor x = Tensor::from(context(), view(ones)).value();
  const auto expect_right = [&](const Tensor& out) {
    const std::vector<std::int32_t> y = out.to_vector<std::int32_t>().value();
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], static_cast<std::int32_t>(i + 1)) << i;
  };
  Tensor out = Tensor::zeros(context(), x.shape(), DType::i32).value();
  Graph graph = Graph::record(context(), [&] { return scan(context(), {.in = x, .out = out}); }).value();
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(graph.launch(context().stream()).ok());
    expect_right(out);
  }
  Context other = Context::create(GetParam()).value();
  Tensor second = Tensor::zeros(other, x.shape(), DType::i32).value();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(scan(context(), {.in = x, .out = out}).ok());
    ASSERT_TRUE(scan(other, {.in = x, .out = second}).ok());
  }
  expect_right(out);
  expect_right(second);
}

INSTANTIATE_TEST_SUITE_P(Devices, ScanTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
