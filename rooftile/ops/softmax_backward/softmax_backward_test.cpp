// What is special to softmax_backward: slopes against differences of softmax in double, rows at two strides, and what it refuses, on
// every device that is usable here. The cases themselves run through the lab.
#include "rooftile/ops/softmax_backward/softmax_backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kTemperature = 0.75;

// Without a period that rows could have in common; between -3 and 3.
float number_at(std::int64_t i) { return static_cast<float>(i * i / 3 % 97) / 16.0f - 3.0f; }
float gradient_at(std::int64_t i) { return static_cast<float>((i * 7 + i * i / 5) % 31) / 16.0f - 1.0f; }

std::vector<double> forward(const std::vector<double>& x, bool log) {
  const double maximum = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (const double v : x) sum += std::exp((v - maximum) / kTemperature);
  std::vector<double> y;
  for (const double v : x) {
    const double exponent = (v - maximum) / kTemperature;
    y.push_back(log ? exponent - std::log(sum) : std::exp(exponent) / sum);
  }
  return y;
}

class SoftmaxBackwardTest : public OnEveryDevice {
 protected:
  std::string refusal(const SoftmaxBackwardArgs& args) {
    const Status status = softmax_backward(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }

  // Of a row with a few large elements, so that long ones do not vanish.
  void expect_slopes(std::int64_t columns, bool log) {
    std::vector<double> x;
    for (std::int64_t j = 0; j < columns; ++j)
      x.push_back(static_cast<double>(number_at(j)) + (j % 101 == 7 ? 4 : 0));
    const auto loss = [&] {
      const std::vector<double> y = forward(x, log);
      double sum = 0;
      for (std::size_t j = 0; j < y.size(); ++j)
        sum += static_cast<double>(gradient_at(static_cast<std::int64_t>(j))) * y[j];
      return sum;
    };
    std::vector<double> slopes;
    constexpr double kStep = 1e-5;
    for (double& value : x) {
      const double before = value;
      value = before + kStep;
      const double above = loss();
      value = before - kStep;
      slopes.push_back((above - loss()) / (2 * kStep));
      value = before;
    }
    const std::vector<double> results = forward(x, log);
    const Tensor y = tensor({columns}, [&](std::int64_t j) { return results[static_cast<std::size_t>(j)]; });
    const Tensor dy = tensor({columns}, gradient_at);
    Tensor dx = tensor({columns}, [](std::int64_t) { return kNan; });
    const SoftmaxBackwardArgs args{.y = y, .dy = dy, .dx = dx, .temperature = kTemperature, .log = log};
    for_every_rung(softmax_backward_operator(), args, 2, [&](const std::string& rung) {
      const std::vector<float> all = dx.to_vector<float>().value();
      for (std::size_t j = 0; j < all.size(); ++j)
        ASSERT_NEAR(all[j], slopes[j], 5e-6 * (1 + std::fabs(slopes[j])))
            << rung << " " << columns << " " << log << " " << j;
    });
  }
};

// Of short rows, and of longer ones for the rungs that take no short ones: that begin anywhere, and of whole vectors.
TEST_P(SoftmaxBackwardTest, GivesTheSlopesOfForward) {
  for (const std::int64_t columns : {43, 1031, 1536}) {
    for (const bool log : {false, true}) expect_slopes(columns, log);
  }
}

// [2, 3, 40] out of [2, 5, 48]: rows at two strides, and, differently, in dx.
TEST_P(SoftmaxBackwardTest, RowsMayLieAtTwoStrides) {
  constexpr std::int64_t kWide = 40;
  const Tensor room = tensor({2, 5, 48}, number_at);
  const Tensor gradients = tensor({2, 3, kWide}, gradient_at);
  for (const std::int64_t from : {0, 1, 4}) {
    Tensor out = tensor({2, 4, 48}, [](std::int64_t) { return kNan; });
    const SoftmaxBackwardArgs args{.y = std::as_const(room).view().slice(1, 1, 4).slice(2, 4, 4 + kWide),
                                   .dy = gradients,
                                   .dx = out.view().slice(1, 0, 3).slice(2, from, from + kWide)};
    for_every_rung(softmax_backward_operator(), args, 2, [&](const std::string& rung) {
      const std::vector<float> all = out.to_vector<float>().value();
      std::size_t nans = 0;
      for (const float value : all) nans += std::isnan(value) ? 1u : 0u;
      EXPECT_EQ(nans, all.size() - 6 * kWide) << rung;
      for (std::int64_t row = 0; row < 6; ++row) {
        const auto y = [&](std::int64_t j) {
          return static_cast<double>(number_at((row / 3 * 5 + row % 3 + 1) * 48 + 4 + j));
        };
        const auto dy = [&](std::int64_t j) { return static_cast<double>(gradient_at(row * kWide + j)); };
        double sum = 0;
        for (std::int64_t j = 0; j < kWide; ++j) sum += y(j) * dy(j);
        for (std::int64_t j = 0; j < kWide; ++j) {
          ASSERT_NEAR(all[static_cast<std::size_t>((row / 3 * 4 + row % 3) * 48 + from + j)],
                      (dy(j) - sum) * y(j), 1e-3)
              << rung << " " << row << " " << j;
        }
      }
    });
  }
}

// An element that the mask took has no probability: its logarithm is -inf, and nothing comes back but what was asked of it.
TEST_P(SoftmaxBackwardTest, WhatWasMaskedHasNoShare) {
  const std::vector<float> logs = {std::log(0.25f), -kInfinity, std::log(0.75f), -kInfinity};
  const Tensor y = tensor({4}, [&](std::int64_t j) { return logs[static_cast<std::size_t>(j)]; });
  const Tensor dy = tensor({4}, [](std::int64_t j) { return j == 0 ? 1.0f : 0.0f; });
  Tensor dx = tensor({4}, [](std::int64_t) { return kNan; });
  const SoftmaxBackwardArgs args{.y = y, .dy = dy, .dx = dx, .log = true};
  for_every_rung(softmax_backward_operator(), args, 2, [&](const std::string& rung) {
    const std::vector<float> all = dx.to_vector<float>().value();
    const std::vector<float> expected = {0.75f, 0, -0.75f, 0};
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(all[j], expected[j], 1e-6) << rung << " " << j;
  });
}

TEST_P(SoftmaxBackwardTest, RefusesWhatItCannotServe) {
  const Tensor y = tensor({4, 8}, number_at);
  Tensor dx = tensor({4, 8}, number_at);
  EXPECT_EQ(refusal({.y = y, .dy = y, .dx = dx.view().slice(0, 0, 3)}), "dx must have the shape of y");
  EXPECT_NE(refusal({.y = y, .dy = y, .dx = dx, .temperature = 0})
                .find("argmax, which 0 stands for, has no gradient"),
            std::string::npos);
  EXPECT_NE(refusal({.y = y, .dy = y, .dx = dx, .temperature = std::nan("")}), "accepted");
  EXPECT_NE(refusal({.y = dx, .dy = y, .dx = dx}), "accepted");
}

INSTANTIATE_TEST_SUITE_P(Devices, SoftmaxBackwardTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
