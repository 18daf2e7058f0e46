// What is special to rms_norm: scaled rows, residuals, and what it refuses, on every device that is usable here. The cases themselves
// run through the lab.
#include "rooftile/ops/rms_norm/rms_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "rooftile/families/norm/norm_testing.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Without a period that rows could have in common; between -3 and 3.
float number_at(std::int64_t i) { return static_cast<float>(i * i / 3 % 97) / 16.0f - 3.0f; }

class RmsNormTest : public OnEveryDevice {
 protected:
  std::string refusal(const RmsNormArgs& args) {
    const Status status = rms_norm(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
};

// Without eps a power of two changes no bit, in the range of f32's squares and beyond it at either end.
TEST_P(RmsNormTest, AScaledRowHasTheSameResults) {
  const Tensor x = tensor({3, 700}, number_at);
  Tensor y = tensor({3, 700}, [](std::int64_t) { return kNan; });
  for_every_rung(rms_norm_operator(), RmsNormArgs{.x = x, .y = y, .eps = 0}, 2, [&](const std::string& rung) {
    const std::vector<float> results = y.to_vector<float>().value();
    for (const float scale : {0x1p-90f, 0x1p-20f, 0x1p40f, 0x1p100f, 0x1p120f}) {
      const Tensor scaled = tensor({3, 700}, [&](std::int64_t i) { return number_at(i) * scale; });
      const RmsNormArgs args{.x = scaled, .y = y, .eps = 0};
      const RungRow* row = rms_norm_operator().find_rung(rung);
      ASSERT_TRUE(run_rung(rms_norm_operator(), *row, context(), AnyArgs::of(args)).ok());
      EXPECT_EQ(y.to_vector<float>().value(), results) << rung << " " << scale;
    }
  });
}

TEST_P(RmsNormTest, WeightAndResidual) {
  for (const RungRow& rung : rms_norm_operator().rungs) {
    Tensor x = tensor({2, 300}, number_at);
    Tensor residual = tensor({2, 300}, [](std::int64_t i) { return 0.25f * static_cast<float>(i % 7); });
    const Tensor weight = tensor({300}, [](std::int64_t j) { return 0.5f + static_cast<float>(j % 3); });
    const RmsNormArgs args{.x = x, .residual = residual, .weight = weight, .y = x};
    if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
    ASSERT_TRUE(run_rung(rms_norm_operator(), rung, context(), AnyArgs::of(args)).ok()) << rung.id;
    const std::vector<float> sums = residual.to_vector<float>().value();
    const std::vector<float> results = x.to_vector<float>().value();
    for (std::size_t r = 0; r < 2; ++r) {
      double squares = 0;
      for (std::size_t j = r * 300; j < (r + 1) * 300; ++j) {
        ASSERT_EQ(sums[j], number_at(static_cast<std::int64_t>(j)) + 0.25f * static_cast<float>(j % 7))
            << rung.id;
        squares += static_cast<double>(sums[j]) * static_cast<double>(sums[j]);
      }
      for (std::size_t j = 0; j < 300; ++j) {
        const double expected =
            sums[r * 300 + j] / std::sqrt(squares / 300 + 1e-6) * (0.5 + static_cast<double>(j % 3));
        ASSERT_NEAR(results[r * 300 + j], expected, 4e-6) << rung.id << " " << j;
      }
    }
  }
}

// Beside an infinity finite elements are nothing, and it is no number; a NaN stays in its row.
TEST_P(RmsNormTest, InfinitiesAndNansStayInTheirRows) {
  const std::vector<float> rows = {1, kInfinity, -2, 3, kNan, 1, 2, 3, 2, 2, 2, -2};
  const Tensor x = tensor({3, 4}, [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
  Tensor y = tensor({3, 4}, [](std::int64_t) { return 9.0f; });
  for_every_rung(rms_norm_operator(), RmsNormArgs{.x = x, .y = y}, 2, [&](const std::string& rung) {
    const std::vector<float> all = y.to_vector<float>().value();
    for (const std::size_t i : {0, 2, 3}) EXPECT_EQ(all[i], 0) << rung;
    EXPECT_TRUE(std::isnan(all[1])) << rung;
    for (const std::size_t i : {4, 5, 6, 7}) EXPECT_TRUE(std::isnan(all[i])) << rung;
    for (const std::size_t i : {8, 9, 10}) EXPECT_NEAR(all[i], 1, 1e-6) << rung;
    EXPECT_NEAR(all[11], -1, 1e-6) << rung;
  });
}

// An outlier beside zeros, in rows for the rungs that take no short ones, too: of n elements one is the root of n.
TEST_P(RmsNormTest, OutliersInLongRows) {
  for (const std::int64_t columns : {1500, 8192}) {
    const Tensor x =
        tensor({3, columns}, [&](std::int64_t i) { return i % columns == columns - 2 ? 1e30f : 0.0f; });
    Tensor y = tensor({3, columns}, [](std::int64_t) { return kNan; });
    const double one = std::sqrt(static_cast<double>(columns));
    const double others = 0;
    for_every_rung(rms_norm_operator(), RmsNormArgs{.x = x, .y = y}, 2, [&](const std::string& rung) {
      const std::vector<float> all = y.to_vector<float>().value();
      for (std::size_t i = 0; i < all.size(); ++i) {
        const double expected = static_cast<std::int64_t>(i) % columns == columns - 2 ? one : others;
        ASSERT_NEAR(all[i], expected, 1e-5 * std::fabs(expected)) << rung << " " << i;
      }
    });
  }
}

TEST_P(RmsNormTest, ANanStaysInItsRow) {
  expect_a_nan_stays_in_its_row(rms_norm_operator(),
                                [](const Tensor& x, Tensor& y) { return RmsNormArgs{.x = x, .y = y}; });
}

// vectorized, a cluster for each row, clusters that stay, split_row, grid.
TEST_P(RmsNormTest, CapturedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be captured";
  for (const auto& [m, n] : {std::pair{300, 1000}, std::pair{300, 20480}, std::pair{600, 20480},
                             std::pair{16, 131072}, std::pair{18, 262144}}) {
    norm_testing::expect_the_same_in_graphs_and_streams(
        context(), m, n,
        [](Context& on, const Tensor& x, Tensor& y) { return rms_norm(on, RmsNormArgs{.x = x, .y = y}); });
  }
}

TEST_P(RmsNormTest, RefusesWhatItCannotServe) {
  const Tensor x = tensor({4, 8}, number_at);
  Tensor y = tensor({4, 8}, number_at);
  const Tensor weight = tensor({7}, number_at);
  EXPECT_EQ(refusal({.x = x, .weight = weight, .y = y}), "weight must have an element for each column of x");
  EXPECT_NE(refusal({.x = x, .residual = y, .y = y}), "accepted");
  EXPECT_NE(refusal({.x = x, .y = y, .eps = kInfinity}), "accepted");
}

INSTANTIATE_TEST_SUITE_P(Devices, RmsNormTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
