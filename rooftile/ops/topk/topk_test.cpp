// What is special to topk: its order, its edges, and its contract, on every device that is usable here. The cases themselves
// run through the lab.
#include "rooftile/ops/topk/topk.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "rooftile/ops/topk/topk_table.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

class TopkTest : public OnEveryDevice {
 protected:
  template <class T>
  std::vector<std::int64_t> indices(const std::vector<T>& values, TopkArgs options) {
    const Tensor in = Tensor::from(context(), view(values)).value();
    Result<TwoTensors> result = topk(context(), in, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    return (*result)[1].template to_vector<std::int64_t>().value();
  }
  using List = std::vector<std::int64_t>;
};

// A GPU of sm_89 has 99 KiB for a block, where one of sm_90 has 227. On the simulated SM, which every build has.
TEST(TopkTestOfChoices, ARungIsTakenWhoseBlocksFit) {
  DeviceProperties device;
  device.device = kSim;
  device.compute_capability = 89;
  device.multiprocessors = 128;
  TopkArgs args{.k = 200};
  args.in.dtype = DType::f64;
  args.in.shape = {2000};
  device.shared_memory_per_block = 101376;
  EXPECT_EQ(topk_choose(args, device), "bitonic_heap");
  device.shared_memory_per_block = 232448;
  EXPECT_EQ(topk_choose(args, device), "shared_parts");
}

TEST_P(TopkTest, LargestAndSmallestOfTheTextbook) {
  const std::vector<float> x = {3, -1, 7, 7, 0, 4};
  EXPECT_EQ(indices(x, {.k = 3}), (List{2, 3, 5}));
  EXPECT_EQ(indices(x, {.k = 6}), (List{2, 3, 5, 0, 4, 1}));
  EXPECT_EQ(indices(x, {.k = 2, .largest = false}), (List{1, 4}));
  EXPECT_EQ(indices(x, {.k = 0}), List());
  const Tensor in = Tensor::from(context(), view(x)).value();
  const auto [values, at] = topk(context(), in, {.k = 3}).value();
  EXPECT_EQ(values.to_vector<float>().value(), (std::vector<float>{7, 7, 4}));
  EXPECT_EQ(values.shape(), Extents{3});
  EXPECT_EQ(at.dtype(), DType::i64);
}

TEST_P(TopkTest, NaNIsTheLargestAndZerosAreEqual) {
  const std::vector<float> x = {0.0f, -0.0f, -NAN, INFINITY, NAN, -INFINITY};
  EXPECT_EQ(indices(x, {.k = 6}), (List{2, 4, 3, 0, 1, 5}));
  EXPECT_EQ(indices(x, {.k = 6, .largest = false}), (List{5, 0, 1, 3, 2, 4}));
}

TEST_P(TopkTest, NaNsOfEveryDtypeAndSign) {
  const std::vector<double> x = {0.0, -0.0, -NAN, INFINITY, std::nan("5"), -INFINITY};
  const List falling = {2, 4, 3, 0, 1, 5};
  EXPECT_EQ(indices(x, {.k = 6}), falling);
  std::vector<Float16> halves;
  std::vector<BFloat16> brains;
  for (const double number : x) {
    halves.push_back(to_float16(number));
    brains.push_back(to_bfloat16(number));
  }
  EXPECT_EQ(indices(halves, {.k = 6}), falling);
  EXPECT_EQ(indices(brains, {.k = 6}), falling);
}

TEST_P(TopkTest, TheEndsOfIntegers) {
  constexpr auto kLow = std::numeric_limits<std::int64_t>::min();
  constexpr auto kHigh = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(indices<std::int64_t>({-1, kLow, 0, kHigh}, {.k = 4}), (List{3, 2, 0, 1}));
  EXPECT_EQ(indices<std::uint64_t>({1, 0, ~std::uint64_t{0}}, {.k = 3}), (List{2, 0, 1}));
  EXPECT_EQ(indices<std::int8_t>({-1, -128, 0, 127}, {.k = 4, .largest = false}), (List{1, 0, 2, 3}));
}

TEST_P(TopkTest, RowsOfMoreThanTwoAxes) {
  std::vector<std::int32_t> x(std::size_t{2} * 3 * 5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::int32_t>(i % 5);
  const Tensor in = Tensor::from(context(), view(x, {2, 3, 5})).value();
  const auto [values, at] = topk(context(), in, {.k = 2}).value();
  EXPECT_EQ(values.shape(), (Extents{2, 3, 2}));
  const std::vector<std::int64_t> found = at.to_vector<std::int64_t>().value();
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i % 2 == 0 ? 4 : 3);
}

TEST_P(TopkTest, BadCallsAreToldWhatToMend) {
  const Tensor in = Tensor::zeros(context(), {2, 5}, DType::f32).value();
  const Result<TwoTensors> more = topk(context(), in, {.k = 6});
  ASSERT_FALSE(more.ok());
  EXPECT_NE(more.status().message().find("a row has 5 elements"), std::string::npos)
      << more.status().message();
  EXPECT_FALSE(topk(context(), in, {.k = -1}).ok());
}

TEST_P(TopkTest, RecordedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda) GTEST_SKIP() << "graphs and streams are CUDA's";
  std::vector<float> values(300000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7919 % values.size());
  const Tensor x = Tensor::from(context(), view(values)).value();
  constexpr std::int64_t kMost = 2000;
  const auto expect_right = [&](const Tensor& out, std::int64_t k) {
    const std::vector<float> y = out.to_vector<float>().value();
    for (std::int64_t j = 0; j < k; ++j)
      ASSERT_EQ(y[static_cast<std::size_t>(j)], static_cast<float>(std::ssize(values) - 1 - j));
  };
  for (const std::int64_t k : {std::int64_t{100}, kMost}) {
    Tensor out = Tensor::zeros(context(), {k}, DType::f32).value();
    Tensor at = Tensor::zeros(context(), {k}, DType::i64).value();
    Graph graph = Graph::record(context(), [&] {
                    return topk(context(), {.in = x, .values = out, .indices = at, .k = k});
                  }).value();
    for (int replay = 0; replay < 3; ++replay) {
      ASSERT_TRUE(fill_bytes(context().stream(), out.data(), 0, out.bytes()).ok());
      ASSERT_TRUE(graph.launch(context().stream()).ok());
      expect_right(out, k);
    }
    Context other = Context::create(GetParam()).value();
    Tensor second = Tensor::zeros(other, {k}, DType::f32).value();
    Tensor second_at = Tensor::zeros(other, {k}, DType::i64).value();
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(topk(context(), {.in = x, .values = out, .indices = at, .k = k}).ok());
      ASSERT_TRUE(topk(other, {.in = x, .values = second, .indices = second_at, .k = k}).ok());
    }
    expect_right(out, k);
    expect_right(second, k);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, TopkTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
