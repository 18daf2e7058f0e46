// What is special to histogram: its edges, its bounds, and its contract, on every device that is usable here. The cases
// themselves run through the lab.
#include "rooftile/ops/histogram/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

class HistogramTest : public OnEveryDevice {
 protected:
  using Counts = std::vector<std::int64_t>;
  template <class T>
  Counts counts(const std::vector<T>& values, HistogramArgs options) {
    const Tensor in = Tensor::from(context(), view(values)).value();
    Result<Tensor> result = histogram(context(), in, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? result->template to_vector<std::int64_t>().value() : Counts();
  }
};

TEST_P(HistogramTest, TheTextbook) {
  const std::vector<float> x = {0.0f, 0.1f, 0.5f, 0.99f, 1.0f, -0.1f, NAN, INFINITY};
  EXPECT_EQ(counts(x, {.bins = 2, .lower = 0, .upper = 1}), (Counts{2, 2}));
  EXPECT_EQ(counts(x, {.bins = 2, .lower = 0, .upper = 1, .closed = true}), (Counts{2, 3}));
  EXPECT_EQ(counts(x, {.bins = 1, .lower = -1, .upper = 0}), (Counts{1}));
  EXPECT_EQ(counts(std::vector<float>(), {.bins = 3}), (Counts{0, 0, 0}));
}

TEST_P(HistogramTest, TheEndsOfIntegers) {
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(counts<std::int64_t>({kLow, -1, 0, kHigh}, {.bins = 2, .lower = -0x1p63, .upper = 0x1p63}),
            (Counts{2, 2}));
  EXPECT_EQ(counts<std::uint64_t>({0, ~std::uint64_t{0}, 1}, {.bins = 3, .lower = 0, .upper = 0x1p64}),
            (Counts{2, 0, 1}));
  EXPECT_EQ(counts<std::int8_t>({-128, -1, 0, 127}, {.bins = 4, .lower = -128, .upper = 128}),
            (Counts{1, 1, 1, 1}));
  // One beyond the largest number is nobody's.
  EXPECT_EQ(counts<std::uint64_t>({0, ~std::uint64_t{0}},
                                  {.bins = 2, .lower = 0x1p63, .upper = 0x1p64, .closed = true}),
            (Counts{0, 1}));
  EXPECT_EQ(counts<std::int64_t>({kLow, kHigh}, {.bins = 1, .lower = 0, .upper = 0x1p63, .closed = true}),
            (Counts{1}));
  EXPECT_EQ(counts<std::int8_t>({-128, -1, 0}, {.bins = 1, .lower = -10, .upper = 0, .closed = true}),
            (Counts{2}));
  EXPECT_EQ(counts<std::uint32_t>({0, 1, ~std::uint32_t{0}},
                                  {.bins = 1, .lower = 1, .upper = 0x1p32, .closed = true}),
            (Counts{2}));
  EXPECT_EQ(counts<std::int32_t>({std::numeric_limits<std::int32_t>::min(), 7},
                                 {.bins = 2, .lower = -0x1p31, .upper = 0x1p31}),
            (Counts{1, 1}));
  // An edge lies between two numbers: bins of 1.5.
  EXPECT_EQ(counts<std::uint8_t>({0, 1, 2, 3}, {.bins = 2, .lower = 0, .upper = 3}), (Counts{2, 1}));
  EXPECT_EQ(counts<std::int32_t>({7, 8, 9}, {.bins = 2, .lower = 7, .upper = 9, .closed = true}),
            (Counts{1, 2}));
}

TEST_P(HistogramTest, WeightsAreSummedUp) {
  const std::vector<std::int32_t> x = {0, 1, 1, 5, 2};
  const std::vector<double> w = {0.5, 2, -3, 100, 0.25};
  const Tensor in = Tensor::from(context(), view(x)).value();
  const Tensor weights = Tensor::from(context(), view(w)).value();
  const Tensor sums =
      histogram(context(), in, {.weights = weights, .bins = 3, .lower = 0, .upper = 3}).value();
  EXPECT_EQ(sums.to_vector<double>().value(), (std::vector<double>{0.5, -1, 0.25}));
}

TEST_P(HistogramTest, CountsOf32BitsWhereTheyAreAsked) {
  const std::vector<std::uint8_t> x(1000, 255);
  const Tensor in = Tensor::from(context(), view(x, {10, 100})).value();
  const Tensor out = histogram(context(), in, {.counts_dtype = DType::u32}).value();
  const std::vector<std::uint32_t> found = out.to_vector<std::uint32_t>().value();
  EXPECT_EQ(found[255], 1000u);
  EXPECT_EQ(std::accumulate(found.begin(), found.end(), 0u), 1000u);
}

TEST_P(HistogramTest, BadCallsAreToldWhatToMend) {
  const Tensor reals = Tensor::zeros(context(), {5}, DType::f32).value();
  const Tensor bytes = Tensor::zeros(context(), {5}, DType::u8).value();
  const auto message = [&](const Tensor& in, const HistogramArgs& args) {
    const Result<Tensor> result = histogram(context(), in, args);
    EXPECT_FALSE(result.ok());
    return result.status().message();
  };
  EXPECT_NE(message(reals, {.lower = 2, .upper = 1}).find("the lower one first"), std::string::npos);
  EXPECT_NE(message(reals, {.lower = NAN, .upper = 1}).find("finite bounds"), std::string::npos);
  EXPECT_NE(message(reals, {.lower = 1, .upper = 1 + 1e-12}).find("rounded to f32"), std::string::npos);
  EXPECT_NE(message(reals, {.lower = -3e38, .upper = 3e38}).find("must be finite"), std::string::npos);
  EXPECT_NE(message(reals, {.lower = 0, .upper = 1e-37}).find("must be finite"), std::string::npos);
  EXPECT_NE(message(bytes, {.lower = 0.5, .upper = 9}).find("whole numbers"), std::string::npos);
  EXPECT_NE(message(bytes, {.bins = 0}).find("bins"), std::string::npos);
  EXPECT_NE(message(bytes, {.bins = 65537}).find("bins"), std::string::npos);
  EXPECT_NE(message(bytes, {.counts_dtype = DType::f64}).find("i64 or u32"), std::string::npos);
}

TEST_P(HistogramTest, RecordedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda) GTEST_SKIP() << "graphs and streams are CUDA's";
  std::vector<std::uint32_t> values(300000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint32_t>(i % 300);
  const Tensor x = Tensor::from(context(), view(values)).value();
  const auto expect_right = [&](const Tensor& out) {
    const HistogramTest::Counts found = out.to_vector<std::int64_t>().value();
    for (const std::int64_t count : found) ASSERT_EQ(count, 1000);
  };
  const HistogramArgs args{.bins = 300, .lower = 0, .upper = 300};
  Tensor out = Tensor::zeros(context(), {300}, DType::i64).value();
  const auto call = [&](Context& where, Tensor& counts) {
    HistogramArgs with_tensors = args;
    with_tensors.in = x;
    with_tensors.counts = counts;
    return histogram(where, with_tensors);
  };
  Graph graph = Graph::record(context(), [&] { return call(context(), out); }).value();
  for (int replay = 0; replay < 3; ++replay) {
    ASSERT_TRUE(fill_bytes(context().stream(), out.data(), 0, out.bytes()).ok());
    ASSERT_TRUE(graph.launch(context().stream()).ok());
    expect_right(out);
  }
  Context other = Context::create(GetParam()).value();
  Tensor second = Tensor::zeros(other, {300}, DType::i64).value();
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(call(context(), out).ok());
    ASSERT_TRUE(call(other, second).ok());
  }
  expect_right(out);
  expect_right(second);
}

INSTANTIATE_TEST_SUITE_P(Devices, HistogramTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
