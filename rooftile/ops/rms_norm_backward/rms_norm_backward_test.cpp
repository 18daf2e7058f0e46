// What is special to rms_norm_backward: slopes against differences of rms_norm in double, outputs that nobody asks for, and what it refuses, on every
// device that is usable here. The cases themselves run through the lab.
#include "rooftile/ops/rms_norm_backward/rms_norm_backward.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
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
  std::vector<double> x, weight;
};

Inputs inputs(std::int64_t columns) {
  Inputs all;
  all.columns = columns;
  for (std::int64_t i = 0; i < kRows * columns; ++i) all.x.push_back(static_cast<double>(number_at(i)));
  for (std::int64_t j = 0; j < columns; ++j) all.weight.push_back(static_cast<double>(weight_at(j)));
  return all;
}

// The sum of dy * y: what every gradient is a slope of.
double loss(const Inputs& in) {
  double loss = 0;
  const auto n = static_cast<std::size_t>(in.columns);
  for (std::size_t r = 0; r < static_cast<std::size_t>(kRows); ++r) {
    double squares = 0;
    for (std::size_t j = 0; j < n; ++j) squares += in.x[r * n + j] * in.x[r * n + j];
    const double deviation = std::sqrt(squares / static_cast<double>(in.columns) + kEps);
    for (std::size_t j = 0; j < n; ++j) {
      const double y = in.x[r * n + j] / deviation * in.weight[j];
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

class RmsNormBackwardTest : public OnEveryDevice {
 protected:
  std::string refusal(const RmsNormBackwardArgs& args) {
    const Status status = rms_norm_backward(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
  static void expect_near(const Tensor& tensor, const std::vector<double>& expected,
                          const std::string& what) {
    const std::vector<float> values = tensor.to_vector<float>().value();
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(values[i], expected[i], 2e-5) << what << " " << i;
  }
};

TEST_P(RmsNormBackwardTest, GivesTheSlopesOfForward) {
  for (const std::int64_t columns : kLengths) {
    // fused takes whole vectors, fused_elements any.
    const int least = GetParam().kind == DeviceKind::cpu ? 2 : columns % 4 != 0 ? 3 : 4;
    const std::vector<double> of_x = slopes(&Inputs::x, columns);
    const std::vector<double> of_weight = slopes(&Inputs::weight, columns);
    const Tensor x = tensor({kRows, columns}, number_at);
    const Tensor dy = tensor({kRows, columns}, gradient_at);
    const Tensor weight = tensor({columns}, weight_at);
    const auto nan = [](std::int64_t) { return kNan; };
    Tensor dx = tensor({kRows, columns}, nan);
    Tensor dweight = tensor({columns}, nan);
    const RmsNormBackwardArgs args{
        .x = x, .dy = dy, .weight = weight, .dx = dx, .dweight = dweight, .eps = kEps};
    for_every_rung(rms_norm_backward_operator(), args, least, [&](const std::string& rung) {
      const std::string what = rung + " of " + std::to_string(columns);
      expect_near(dx, of_x, what + " dx");
      expect_near(dweight, of_weight, what + " dweight");
    });
  }
}

// Without them only dx is written; with none of its rows the columns' sums are zeros.
TEST_P(RmsNormBackwardTest, ColumnsMayBeAbsentAndRowsNone) {
  const Tensor x = tensor({kRows, kColumns}, number_at);
  const Tensor dy = tensor({kRows, kColumns}, gradient_at);
  Tensor dx = tensor({kRows, kColumns}, [](std::int64_t) { return kNan; });
  const RmsNormBackwardArgs args{.x = x, .dy = dy, .dx = dx};
  for_every_rung(rms_norm_backward_operator(), args, 2, [&](const std::string& rung) {
    for (const float value : dx.to_vector<float>().value()) ASSERT_FALSE(std::isnan(value)) << rung;
  });
  const Tensor none = tensor({0, kColumns}, number_at);
  const auto result = rms_norm_backward(context(), none, none);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ((*result)[1].to_vector<float>().value(),
            std::vector<float>(static_cast<std::size_t>(kColumns), 0.0f));
}

// Each slot of a ring has many rows, one after the other.
TEST_P(RmsNormBackwardTest, RingsGoRoundMoreThanTwice) {
  if (GetParam().kind == DeviceKind::cpu) GTEST_SKIP() << "rings are a GPU's";
  for (const auto& [m, n] : norm_backward_testing::shapes_that_go_round(context())) {
    const auto nan = [](std::int64_t) { return kNan; };
    const Tensor x = tensor({m, n}, number_at);
    const Tensor dy = tensor({m, n}, gradient_at);
    Tensor dx = tensor({m, n}, nan);
    Tensor dweight = tensor({n}, nan);
    const RmsNormBackwardArgs args{.x = x, .dy = dy, .dx = dx, .dweight = dweight, .eps = kEps};
    norm_backward_testing::expect_rings_give_what_registers_do(rms_norm_backward_operator(), context(), args,
                                                               {&dx, &dweight}, m);
  }
}

TEST_P(RmsNormBackwardTest, RefusesWhatItCannotServe) {
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

INSTANTIATE_TEST_SUITE_P(Devices, RmsNormBackwardTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
