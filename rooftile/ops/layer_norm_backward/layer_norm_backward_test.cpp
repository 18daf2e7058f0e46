// What is special to layer_norm_backward: slopes against differences of layer_norm in double, outputs that nobody asks for, and what it refuses, on every
// device that is usable here. The cases themselves run through the lab.
#include "rooftile/ops/layer_norm_backward/layer_norm_backward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "rooftile/core/operator.h"
#include "rooftile/families/norm/norm_backward_testing.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kRows = 5;
constexpr std::int64_t kColumns = 44;
constexpr double kEps = 1e-3;

// Without a period that rows could have in common; between -3 and 3.
float number_at(std::int64_t i) { return static_cast<float>(i * i / 3 % 97) / 16.0f - 3.0f; }
float gradient_at(std::int64_t i) { return static_cast<float>((i * 7 + i * i / 5) % 31) / 16.0f - 1.0f; }
float weight_at(std::int64_t j) { return 0.5f + static_cast<float>(j % 5) / 4.0f; }

// Short rows, and longer ones for the rungs that take no short ones: that begin anywhere, and of whole vectors.
constexpr std::int64_t kLengths[] = {kColumns, 1031, 1536};

struct Inputs {
  std::int64_t columns = 0;
  std::vector<double> x, weight, bias;
};

Inputs inputs(std::int64_t columns) {
  Inputs all;
  all.columns = columns;
  for (std::int64_t i = 0; i < kRows * columns; ++i) all.x.push_back(static_cast<double>(number_at(i)));
  for (std::int64_t j = 0; j < columns; ++j) all.weight.push_back(static_cast<double>(weight_at(j)));
  all.bias.assign(static_cast<std::size_t>(columns), 0.25);
  return all;
}

// The sum of dy * y: what every gradient is a slope of.
double loss(const Inputs& in) {
  double loss = 0;
  const auto n = static_cast<std::size_t>(in.columns);
  for (std::size_t r = 0; r < static_cast<std::size_t>(kRows); ++r) {
    double mean = 0;
    for (std::size_t j = 0; j < n; ++j) mean += in.x[r * n + j] / static_cast<double>(in.columns);
    double squares = 0;
    for (std::size_t j = 0; j < n; ++j) squares += (in.x[r * n + j] - mean) * (in.x[r * n + j] - mean);
    const double deviation = std::sqrt(squares / static_cast<double>(in.columns) + kEps);
    for (std::size_t j = 0; j < n; ++j) {
      const double y = (in.x[r * n + j] - mean) / deviation * in.weight[j] + in.bias[j];
      loss += static_cast<double>(gradient_at(static_cast<std::int64_t>(r * n + j))) * y;
    }
  }
  return loss;
}

std::vector<double> slopes(std::vector<double> Inputs::*of, std::int64_t columns) {
  constexpr double kStep = 1e-5;
  Inputs in = inputs(columns);
  std::vector<double> slopes;
  for (double& value : in.*of) {
    const double before = value;
    value = before + kStep;
    const double above = loss(in);
    value = before - kStep;
    const double below = loss(in);
    value = before;
    slopes.push_back((above - below) / (2 * kStep));
  }
  return slopes;
}

class LayerNormBackwardTest : public OnEveryDevice {
 protected:
  std::string refusal(const LayerNormBackwardArgs& args) {
    const Status status = layer_norm_backward(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
  static void expect_near(const Tensor& tensor, const std::vector<double>& expected,
                          const std::string& what) {
    const std::vector<float> values = tensor.to_vector<float>().value();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected[i], 2e-5) << what << " " << i;
  }
  // Of m rows of n elements; dx, too, where it is of about 1.
  void expect_rings_give_what_registers_do(std::int64_t m, std::int64_t n, double eps,
                                           const std::function<float(std::int64_t)>& element) {
    const auto nan = [](std::int64_t) { return kNan; };
    const Tensor x = tensor({m, n}, element);
    const Tensor dy = tensor({m, n}, gradient_at);
    Tensor dx = tensor({m, n}, nan);
    Tensor dweight = tensor({n}, nan);
    Tensor dbias = tensor({n}, nan);
    const LayerNormBackwardArgs args{
        .x = x, .dy = dy, .dx = dx, .dweight = dweight, .dbias = dbias, .eps = eps};
    std::vector<Tensor*> outputs = {&dweight, &dbias};
    if (eps > 0) outputs.push_back(&dx);
    norm_backward_testing::expect_rings_give_what_registers_do(layer_norm_backward_operator(), context(),
                                                               args, outputs, m);
  }
};

TEST_P(LayerNormBackwardTest, GivesTheSlopesOfForward) {
  for (const std::int64_t columns : kLengths) {
    // fused takes whole vectors, fused_elements any.
    const int least = GetParam().kind == DeviceKind::cpu ? 2 : columns % 4 != 0 ? 3 : 4;
    const std::vector<double> of_x = slopes(&Inputs::x, columns);
    const std::vector<double> of_weight = slopes(&Inputs::weight, columns);
    const std::vector<double> of_bias = slopes(&Inputs::bias, columns);
    const Tensor x = tensor({kRows, columns}, number_at);
    const Tensor dy = tensor({kRows, columns}, gradient_at);
    const Tensor weight = tensor({columns}, weight_at);
    const auto nan = [](std::int64_t) { return kNan; };
    Tensor dx = tensor({kRows, columns}, nan);
    Tensor dweight = tensor({columns}, nan);
    Tensor dbias = tensor({columns}, nan);
    const LayerNormBackwardArgs args{
        .x = x, .dy = dy, .weight = weight, .dx = dx, .dweight = dweight, .dbias = dbias, .eps = kEps};
    for_every_rung(layer_norm_backward_operator(), args, least, [&](const std::string& rung) {
      const std::string what = rung + " of " + std::to_string(columns);
      expect_near(dx, of_x, what + " dx");
      expect_near(dweight, of_weight, what + " dweight");
      expect_near(dbias, of_bias, what + " dbias");
    });
  }
}

// Without them only dx is written; with none of its rows the columns' sums are zeros.
TEST_P(LayerNormBackwardTest, ColumnsMayBeAbsentAndRowsNone) {
  const Tensor x = tensor({kRows, kColumns}, number_at);
  const Tensor dy = tensor({kRows, kColumns}, gradient_at);
  Tensor dx = tensor({kRows, kColumns}, [](std::int64_t) { return kNan; });
  const LayerNormBackwardArgs args{.x = x, .dy = dy, .dx = dx};
  for_every_rung(layer_norm_backward_operator(), args, 2, [&](const std::string& rung) {
    for (const float value : dx.to_vector<float>().value()) ASSERT_FALSE(std::isnan(value)) << rung;
  });
  const Tensor none = tensor({0, kColumns}, number_at);
  const auto result = layer_norm_backward(context(), none, none);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ((*result)[1].to_vector<float>().value(),
            std::vector<float>(static_cast<std::size_t>(kColumns), 0.0f));
}

// A mean beyond what the deviation's inverse may be multiplied by: what a row of four has beside it in registers must not be.
TEST_P(LayerNormBackwardTest, RowsOfOneLargeValueAreFinite) {
  const Tensor x = tensor({2, 4}, [](std::int64_t) { return 2e36f; });
  const Tensor dy = tensor({2, 4}, gradient_at);
  Tensor dx = tensor({2, 4}, [](std::int64_t) { return kNan; });
  const LayerNormBackwardArgs args{.x = x, .dy = dy, .dx = dx};
  for_every_rung(layer_norm_backward_operator(), args, 2, [&](const std::string& rung) {
    for (const float value : dx.to_vector<float>().value()) EXPECT_TRUE(std::isfinite(value)) << rung;
  });
}

// Each slot of a ring has many rows, one after the other.
TEST_P(LayerNormBackwardTest, RingsGoRoundMoreThanTwice) {
  if (GetParam().kind == DeviceKind::cpu) GTEST_SKIP() << "rings are a GPU's";
  for (const auto& [m, n] : norm_backward_testing::shapes_that_go_round(context()))
    expect_rings_give_what_registers_do(m, n, kEps, number_at);
}

// By 570 deviations and by 7: squares about the first elements would have lost ten bits, or six. Two groups of warps a block, and one.
TEST_P(LayerNormBackwardTest, RowsThatBeginFarFromTheirMean) {
  if (GetParam().kind == DeviceKind::cpu) GTEST_SKIP() << "rings are a GPU's";
  for (const float first : {1000.0f, 13.0f}) {
    for (const std::int64_t n : {512, 2048, 4096})
      expect_rings_give_what_registers_do(40, n, kEps,
                                          [&](std::int64_t i) { return i % n < 4 ? first : number_at(i); });
  }
}

// And such rows on both sides of where squares are too small for f32: some are so only once they are taken about the mean.
TEST_P(LayerNormBackwardTest, RowsThatBeginFarFromTheirMeanAndAreTiny) {
  if (GetParam().kind == DeviceKind::cpu) GTEST_SKIP() << "rings are a GPU's";
  constexpr std::int64_t n = 4096;
  expect_rings_give_what_registers_do(300, n, 0, [](std::int64_t i) {
    const std::int64_t row = i / n;
    return i % n < 4 ? static_cast<float>(3.2e-14 * (1 + 1e-5 * static_cast<double>(row - 150))) : 0.0f;
  });
}

TEST_P(LayerNormBackwardTest, RefusesWhatItCannotServe) {
  const Tensor x = tensor({4, 8}, number_at);
  Tensor dx = tensor({4, 8}, number_at);
  Tensor dweight = tensor({7}, number_at);
  EXPECT_EQ(refusal({.x = x, .dy = x, .weight = dweight, .dx = dx}),
            "weight must have an element for each column of x");
  EXPECT_EQ(refusal({.x = x, .dy = x, .dx = dx, .dweight = dweight}), "dweight must have the shape [8]");
  EXPECT_EQ(refusal({.x = x, .dy = dx, .dx = dx}), "accepted");
  EXPECT_NE(refusal({.x = dx, .dy = x, .dx = dx}), "accepted");
  EXPECT_NE(refusal({.x = x, .dy = x, .dx = dx, .eps = -1}), "accepted");
}

// What choose() names, with the numbers of an H200.
TEST(LayerNormBackwardTestPlan, ChoosesByLengthAndRows) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.device = cuda_device(0);
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  const auto chosen = [&](std::int64_t m, std::int64_t n, DType dtype, std::uintptr_t skew = 0) {
    const auto at = [&](std::uintptr_t place) {
      return contiguous_view<void>(reinterpret_cast<void*>((place << 40) + skew), dtype, gpu.device, {m, n});
    };
    const LayerNormBackwardArgs args{.x = at(1), .dy = at(2), .dx = at(3)};
    return std::string(layer_norm_backward_operator().choose(ArgsRef::of(args), gpu));
  };
  EXPECT_EQ(chosen(16384, 4096, DType::bf16), "shared_ring");
  EXPECT_EQ(chosen(20, 16384, DType::bf16), "shared_ring");
  EXPECT_EQ(chosen(500000, 136, DType::bf16), "shared_ring");
  EXPECT_EQ(chosen(500000, 128, DType::bf16), "fused");  // short rows, and many
  EXPECT_EQ(chosen(1000, 128, DType::bf16), "shared_ring");
  EXPECT_EQ(chosen(80000, 64, DType::bf16), "shared_ring");
  EXPECT_EQ(chosen(80000, 64, DType::f32), "fused");
  EXPECT_EQ(chosen(1024, 16392, DType::bf16), "column_parts");      // longer than 32 KiB
  EXPECT_EQ(chosen(1024, 1025, DType::bf16), "fused_elements");     // no whole vectors
  EXPECT_EQ(chosen(1024, 1024, DType::bf16, 2), "fused_elements");  // nor aligned
  EXPECT_EQ(chosen(1024, 8193, DType::bf16), "column_parts");
  gpu.compute_capability = 80;
  EXPECT_EQ(chosen(16384, 4096, DType::bf16), "fused");
}

// A block for each multiprocessor, twice as many where a group's chain of additions would be longer than 16384 rows.
TEST(LayerNormBackwardTestPlan, RingsHaveABlockForEachMultiprocessor) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.multiprocessors = 132;
  const RungRow& ring = *layer_norm_backward_operator().find_rung("shared_ring");
  const auto parts = [&](std::int64_t m) {
    const auto x = contiguous_view<void>(reinterpret_cast<void*>(std::uintptr_t{1} << 40), DType::f32,
                                         gpu.device, {m, 128});
    const LayerNormBackwardArgs args{.x = x, .dy = x, .dx = x};
    constexpr std::size_t kPartBytes = 2 * sizeof(float) * 128;
    return ring.plan(ArgsRef::of(args), gpu).workspace.bytes / kPartBytes;
  };
  EXPECT_EQ(parts(100), 100U);
  EXPECT_EQ(parts(3000000), 132U);
  EXPECT_EQ(parts(std::int64_t{132} * 16 * 16384), 132U);
  EXPECT_EQ(parts(std::int64_t{132} * 16 * 16384 + 1), 264U);
}

INSTANTIATE_TEST_SUITE_P(Devices, LayerNormBackwardTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
