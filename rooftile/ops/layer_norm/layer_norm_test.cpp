// What is special to layer_norm: tensors of more axes, what it refuses, shifted rows, and what sums of squares lose, on every device
// that is usable here. The cases themselves run through the lab.
#include "rooftile/ops/layer_norm/layer_norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "rooftile/families/norm/norm_plan.h"
#include "rooftile/families/norm/norm_testing.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Without a period that rows could have in common; between -3 and 3.
float number_at(std::int64_t i) { return static_cast<float>(i * i / 3 % 97) / 16.0f - 3.0f; }

std::vector<double> normalised(const std::vector<float>& row, double eps = 1e-5) {
  const auto n = static_cast<double>(row.size());
  double mean = 0;
  for (const float v : row) mean += v / n;
  double variance = 0;
  for (const float v : row) variance += (v - mean) * (v - mean) / n;
  std::vector<double> y;
  for (const float v : row) y.push_back((v - mean) / std::sqrt(variance + eps));
  return y;
}

class LayerNormTest : public OnEveryDevice {
 protected:
  std::string refusal(const LayerNormArgs& args) {
    const Status status = layer_norm(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
};

// [2, 3, 40] out of [2, 5, 48]: rows at two strides, in x and, differently, in y; whose vectors lie alike or do not.
TEST_P(LayerNormTest, RowsMayLieAtTwoStrides) {
  constexpr std::int64_t kColumns = 40;
  const Tensor room = tensor({2, 5, 48}, number_at);
  for (const std::int64_t from : {0, 1, 4}) {
    const ConstTensorView x = std::as_const(room).view().slice(1, 1, 4).slice(2, 3, 3 + kColumns);
    Tensor out = tensor({2, 4, 48}, [](std::int64_t) { return kNan; });
    const TensorView y = out.view().slice(1, 0, 3).slice(2, from, from + kColumns);
    for_every_rung(layer_norm_operator(), LayerNormArgs{.x = x, .y = y}, 2, [&](const std::string& rung) {
      const std::vector<float> all = out.to_vector<float>().value();
      std::size_t nans = 0;
      for (const float value : all) nans += std::isnan(value) ? 1u : 0u;
      EXPECT_EQ(nans, all.size() - 6 * kColumns) << rung;
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t i = 0; i < 3; ++i) {
          std::vector<float> row;
          for (std::int64_t j = 0; j < kColumns; ++j) row.push_back(number_at((b * 5 + i + 1) * 48 + 3 + j));
          const std::vector<double> expected = normalised(row);
          for (std::int64_t j = 0; j < kColumns; ++j) {
            ASSERT_NEAR(all[static_cast<std::size_t>((b * 4 + i) * 48 + from + j)],
                        expected[static_cast<std::size_t>(j)], 2e-6)
                << rung << " " << b << " " << i << " " << j;
          }
        }
      }
    });
  }
}

// The same of whole vectors, with all weights.
TEST_P(LayerNormTest, WholeRowsWithWeightsMayLieAtTwoStrides) {
  constexpr std::int64_t kColumns = 1024;  // long enough for every rung
  const Tensor room = tensor({3, 5, kColumns + 8}, number_at);
  const ConstTensorView x = std::as_const(room).view().slice(1, 1, 5).slice(2, 0, kColumns);
  const Tensor weight = tensor({kColumns}, [](std::int64_t j) { return 0.5f + static_cast<float>(j % 5); });
  const Tensor bias = tensor({kColumns}, [](std::int64_t j) { return static_cast<float>(j % 3); });
  Tensor out = tensor({3, 6, kColumns}, [](std::int64_t) { return kNan; });
  const TensorView y = out.view().slice(1, 0, 4);
  const LayerNormArgs args{.x = x, .weight = weight, .bias = bias, .y = y};
  for_every_rung(layer_norm_operator(), args, 2, [&](const std::string& rung) {
    const std::vector<float> all = out.to_vector<float>().value();
    for (std::int64_t b = 0; b < 3; ++b) {
      for (std::int64_t i = 0; i < 4; ++i) {
        std::vector<float> row;
        for (std::int64_t j = 0; j < kColumns; ++j)
          row.push_back(number_at((b * 5 + i + 1) * (kColumns + 8) + j));
        const std::vector<double> expected = normalised(row);
        for (std::int64_t j = 0; j < kColumns; ++j) {
          const double weighed = expected[static_cast<std::size_t>(j)] * (0.5 + static_cast<double>(j % 5)) +
                                 static_cast<double>(j % 3);
          ASSERT_NEAR(all[static_cast<std::size_t>((b * 6 + i) * kColumns + j)], weighed, 3e-5)
              << rung << " " << b << " " << i << " " << j;
        }
      }
    }
  });
}

// A weight alone is one with a bias of zeros, a bias alone one with a weight of ones: in rows of few and of many vectors a thread, with
// weight and bias in shared memory (400), of no whole vectors (1031). Not to the bit: without a weight a compiler may round product and
// sum as one.
TEST_P(LayerNormTest, WeightOrBiasMayBeAlone) {
  for (const std::int64_t columns : {40, 400, 1031, 4096, 8192}) {
    const Tensor x = tensor({3, columns}, number_at);
    const Tensor weight = tensor({columns}, [](std::int64_t j) { return 0.5f + static_cast<float>(j % 5); });
    const Tensor bias = tensor({columns}, [](std::int64_t j) { return static_cast<float>(j % 3) - 1.0f; });
    const Tensor ones = tensor({columns}, [](std::int64_t) { return 1.0f; });
    const Tensor zeros = tensor({columns}, [](std::int64_t) { return 0.0f; });
    Tensor y = tensor({3, columns}, [](std::int64_t) { return kNan; });
    const auto expect_alike = [&](const LayerNormArgs& alone, const LayerNormArgs& both) {
      for_every_rung(layer_norm_operator(), alone, 2, [&](const std::string& rung) {
        const std::vector<float> results = y.to_vector<float>().value();
        ASSERT_TRUE(run_rung(layer_norm_operator(), *layer_norm_operator().find_rung(rung), context(),
                             AnyArgs::of(both))
                        .ok());
        const std::vector<float> wanted = y.to_vector<float>().value();
        for (std::size_t i = 0; i < wanted.size(); ++i) {
          ASSERT_NEAR(results[i], wanted[i], 2e-6) << rung << " " << columns << " " << i;
        }
      });
    };
    expect_alike({.x = x, .weight = weight, .y = y}, {.x = x, .weight = weight, .bias = zeros, .y = y});
    expect_alike({.x = x, .bias = bias, .y = y}, {.x = x, .weight = ones, .bias = bias, .y = y});
  }
}

// The residual of a stream goes through x's place: x is what the layer in front gave, y goes where x was.
TEST_P(LayerNormTest, TheResidualHasTheSumAfterwards) {
  for (const RungRow& rung : layer_norm_operator().rungs) {
    Tensor x = tensor({3, 300}, number_at);
    Tensor residual = tensor({3, 300}, [](std::int64_t i) { return 0.25f * static_cast<float>(i % 7); });
    const LayerNormArgs args{.x = x, .residual = residual, .y = x};
    if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
    ASSERT_TRUE(run_rung(layer_norm_operator(), rung, context(), AnyArgs::of(args)).ok()) << rung.id;
    const std::vector<float> sums = residual.to_vector<float>().value();
    const std::vector<float> results = x.to_vector<float>().value();
    for (std::size_t r = 0; r < 3; ++r) {
      std::vector<float> row;
      for (std::size_t j = r * 300; j < (r + 1) * 300; ++j) {
        row.push_back(number_at(static_cast<std::int64_t>(j)) + 0.25f * static_cast<float>(j % 7));
        ASSERT_EQ(sums[j], row.back()) << rung.id << " " << j;
      }
      const std::vector<double> expected = normalised(row);
      for (std::size_t j = 0; j < 300; ++j) ASSERT_NEAR(results[r * 300 + j], expected[j], 2e-6) << rung.id;
    }
  }
}

// A shift that no rounding sees moves the mean alone; means a thousand times the deviation leave two digits to a chain in single.
TEST_P(LayerNormTest, AShiftedRowHasTheSameResults) {
  constexpr float kShift = 4096;
  const Tensor x = tensor({3, 700}, number_at);
  const Tensor shifted = tensor({3, 700}, [](std::int64_t i) { return number_at(i) + kShift; });
  Tensor y = tensor({3, 700}, [](std::int64_t) { return kNan; });
  for_every_rung(layer_norm_operator(), LayerNormArgs{.x = x, .y = y}, 2, [&](const std::string& rung) {
    const std::vector<float> results = y.to_vector<float>().value();
    const LayerNormArgs moved{.x = shifted, .y = y};
    const RungRow* row = layer_norm_operator().find_rung(rung);
    ASSERT_TRUE(run_rung(layer_norm_operator(), *row, context(), AnyArgs::of(moved)).ok());
    const std::vector<float> again = y.to_vector<float>().value();
    for (std::size_t i = 0; i < results.size(); ++i)
      ASSERT_NEAR(again[i], results[i], 4e-3) << rung << " " << i;
  });
}

// The lesson of sum_of_squares, whose sums are in double: in single nothing is left of a variance of 3 beside a mean of 4096.
TEST(LayerNormTestSums, OfSquaresCancelInSingle) {
  float sum = 0;
  float squares = 0;
  double exact_sum = 0;
  double exact_squares = 0;
  for (std::int64_t i = 0; i < 700; ++i) {
    const float v = number_at(i) + 4096;
    sum += v;
    squares += v * v;
    exact_sum += static_cast<double>(v);
    exact_squares += static_cast<double>(v) * static_cast<double>(v);
  }
  const double variance = exact_squares / 700 - exact_sum / 700 * (exact_sum / 700);
  EXPECT_NEAR(variance, 3, 0.5);
  const double single = squares / 700 - sum / 700 * (sum / 700);
  EXPECT_GT(std::abs(single - variance), variance);
}

TEST_P(LayerNormTest, OutliersAndConstantRows) {
  const std::vector<float> rows = {1e30f,  0,     0,      0,     7,     7,     7,     7,
                                   -3e38f, 3e38f, -3e38f, 3e38f, 2e36f, 2e36f, 2e36f, 2e36f};
  const Tensor x = tensor({4, 4}, [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
  Tensor y = tensor({4, 4}, [](std::int64_t) { return kNan; });
  for_every_rung(layer_norm_operator(), LayerNormArgs{.x = x, .y = y}, 2, [&](const std::string& rung) {
    const std::vector<float> all = y.to_vector<float>().value();
    const float root = std::sqrt(3.0f);
    const std::vector<float> expected = {root, -1 / root, -1 / root, -1 / root, 0, 0, 0, 0,
                                         -1,   1,         -1,        1,         0, 0, 0, 0};
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], expected[i], 1e-6) << rung << " " << i;
  });
}

// Exactly, whatever the value's sum is rounded to; the lessons, which divide that sum, are a last digit of it off.
TEST_P(LayerNormTest, RowsOfOneValueAreZero) {
  const std::vector<float> values = {100000.7f, 1000.1f, -3.3e7f};
  for (const std::int64_t columns : {7, 1001, 1024, 8192, 40000}) {
    const Tensor x =
        tensor({3, columns}, [&](std::int64_t i) { return values[static_cast<std::size_t>(i / columns)]; });
    Tensor y = tensor({3, columns}, [](std::int64_t) { return kNan; });
    for_every_rung(layer_norm_operator(), LayerNormArgs{.x = x, .y = y}, 2, [&](const std::string& rung) {
      if (rung == "two_pass" || rung == "sum_of_squares") return;
      for (const float result : y.to_vector<float>().value()) ASSERT_EQ(result, 0) << rung << " " << columns;
    });
  }
}

// The same in rows for the rungs that take no short ones, one far out at either end, a thread's first element or its last, or in the middle,
// from where split_row's differences are. 3e38 in the middle needs its three takes: by 2^-80, and then by differences from the mean.
TEST_P(LayerNormTest, OutliersInLongRows) {
  const std::vector<float> values = {1e30f, 1000.1f, 57.3f, 1234.567f, 3e38f, 0.0f};
  const auto rows = static_cast<std::int64_t>(values.size());
  for (const std::int64_t columns : {1024, 1500, 8192}) {
    for (const std::int64_t place : {std::int64_t{0}, columns / 2, columns - 2}) {
      const Tensor x = tensor({rows, columns}, [&](std::int64_t i) {
        return i % columns == place ? values[static_cast<std::size_t>(i / columns)] : 0.0f;
      });
      Tensor y = tensor({rows, columns}, [](std::int64_t) { return kNan; });
      const std::vector<float> given = x.to_vector<float>().value();
      std::vector<double> expected;
      for (auto row = given.begin(); row != given.end(); row += columns)
        for (const double v : normalised({row, row + columns})) expected.push_back(v);
      for_every_rung(layer_norm_operator(), LayerNormArgs{.x = x, .y = y}, 2, [&](const std::string& rung) {
        // Lessons add up a row in one chain: behind a square that large small ones are lost.
        if (place < columns - 2 && (rung == "two_pass" || rung == "welford")) return;
        const std::vector<float> all = y.to_vector<float>().value();
        for (std::size_t i = 0; i < all.size(); ++i)
          ASSERT_NEAR(all[i], expected[i], 6e-6 * std::fabs(expected[i])) << rung << " " << place << " " << i;
      });
    }
  }
}

TEST_P(LayerNormTest, ANanStaysInItsRow) {
  expect_a_nan_stays_in_its_row(layer_norm_operator(),
                                [](const Tensor& x, Tensor& y) { return LayerNormArgs{.x = x, .y = y}; });
}

// vectorized, a cluster for each row, clusters that stay, split_row, grid.
TEST_P(LayerNormTest, CapturedReplayedAndOnTwoStreamsAtOnce) {
  if (GetParam().kind != DeviceKind::cuda)
    GTEST_SKIP() << "streams of cpu and sim run at once and cannot be captured";
  for (const auto& [m, n] : {std::pair{300, 1000}, std::pair{300, 20480}, std::pair{600, 20480},
                             std::pair{16, 131072}, std::pair{18, 262144}}) {
    norm_testing::expect_the_same_in_graphs_and_streams(
        context(), m, n, [](Context& on, const Tensor& x, Tensor& y) {
          return layer_norm(on, LayerNormArgs{.x = x, .y = y});
        });
  }
}

TEST_P(LayerNormTest, RefusesWhatItCannotServe) {
  const Tensor x = tensor({4, 6, 5, 8}, number_at);
  Tensor y = tensor({4, 6, 5, 8}, number_at);
  const Tensor weight = tensor({7}, number_at);
  EXPECT_EQ(refusal({.x = x, .y = y.view().slice(0, 0, 3)}), "y must have the shape of x");
  EXPECT_EQ(refusal({.x = x, .weight = weight, .y = y}), "weight must have an element for each column of x");
  EXPECT_EQ(refusal({.x = x, .bias = weight, .y = y}), "bias must have an element for each column of x");
  EXPECT_NE(refusal({.x = x, .y = y, .eps = -1}), "accepted");
  EXPECT_NE(refusal({.x = x, .y = y, .eps = std::nan("")}), "accepted");
  EXPECT_NE(refusal({.x = x, .residual = y, .y = y}), "accepted");
  const Tensor room = tensor({6, 9, 7, 8}, number_at);
  EXPECT_EQ(
      refusal({.x = std::as_const(room).view().slice(0, 0, 4).slice(1, 0, 6).slice(2, 0, 5), .y = y}),
      "the axes in front of the rows lie at more than two strides: call it for a part of the tensor at a time, or for a "
      "copy without gaps");
}

// What choose() names, with the numbers of an H200.
TEST(LayerNormTestPlan, ChoosesByLength) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.device = cuda_device(0);
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  const auto chosen = [&](std::int64_t m, std::int64_t n, std::int64_t skew = 0) {
    const auto at = [](std::int64_t bytes) {
      return reinterpret_cast<void*>((std::uintptr_t{1} << 40) + static_cast<std::uintptr_t>(bytes));
    };
    LayerNormArgs args{.x = contiguous_view<void>(at(0), DType::f32, gpu.device, {m, n})};
    args.y = contiguous_view<void>(at(skew), DType::f32, gpu.device, {m, n});
    return std::string(layer_norm_operator().choose(ArgsRef::of(args), gpu));
  };
  EXPECT_EQ(chosen(32768, 1024), "vectorized");
  EXPECT_EQ(chosen(8192, 16384), "vectorized");
  EXPECT_EQ(chosen(4096, 32768), "cluster");
  EXPECT_EQ(chosen(1024, 131072), "cluster");
  EXPECT_EQ(chosen(16, 1024), "vectorized");
  EXPECT_EQ(chosen(16, 2048), "split_row");
  EXPECT_EQ(chosen(17, 2048), "cluster");
  EXPECT_EQ(chosen(265, 2048), "vectorized");
  EXPECT_EQ(chosen(160, 8192), "split_row");
  EXPECT_EQ(chosen(160, 8193), "split_row");  // rows that begin anywhere
  EXPECT_EQ(chosen(161, 8192), "cluster");
  EXPECT_EQ(chosen(161, 8193), "vectorized");
  EXPECT_EQ(chosen(4, 65536), "split_row");
  EXPECT_EQ(chosen(16, 262144), "split_row");
  EXPECT_EQ(chosen(16, 262143), "split_row");
  EXPECT_EQ(chosen(18, 262144), "grid");  // no room for all at once
  EXPECT_EQ(chosen(2, 1 << 20), "split_row");
  EXPECT_EQ(chosen(32, 131072), "split_row");
  EXPECT_EQ(chosen(64, 131072), "cluster");
  EXPECT_EQ(chosen(300, 1 << 19), "split_row");  // longer than a cluster's registers: in rounds
  EXPECT_EQ(chosen(1000, (1 << 19) + 1), "split_row");
  EXPECT_EQ(chosen(2, 3 << 20), "block_row");    // longer than the grid's
  EXPECT_EQ(chosen(4096, 1024, 4), "warp_row");  // x and y do not lie alike
  EXPECT_EQ(chosen(4096, 1025, 4), "block_row");
  gpu.compute_capability = 80;
  EXPECT_EQ(chosen(4096, 32768), "split_row");
  EXPECT_EQ(chosen(16, 262144), "split_row");
}

// Of clusters that stay, as many as there is room for at once; 0 where every row has one of its own.
TEST(LayerNormTestPlan, ClustersStayForManyWholeRows) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.multiprocessors = 132;
  const auto staying = [&](std::int64_t m, std::int64_t n, DType dtype, bool has_residual = false) {
    const auto at = [&](int place) {
      void* memory = reinterpret_cast<void*>(std::uintptr_t{1} << (40 + place));
      return contiguous_view<void>(memory, dtype, kSim, {m, n});
    };
    LayerNormArgs args{.x = at(0)};
    args.y = at(1);
    if (has_residual) args.residual = at(2);
    const RungPlan plan = norm_plan::plan_cluster(args, gpu);
    const int clusters = plan.config.as<norm_plan::Cut>().staying_clusters;
    EXPECT_EQ(plan.workspace.zeroed_bytes, clusters > 0 ? sizeof(std::uint32_t) : 0);
    return clusters;
  };
  EXPECT_EQ(staying(1024, 131072, DType::f32), 7);
  EXPECT_EQ(staying(1024, 131072, DType::bf16), 15);
  EXPECT_EQ(staying(84, 131072, DType::f32), 7);
  EXPECT_EQ(staying(83, 131072, DType::f32), 0);    // too few rows
  EXPECT_EQ(staying(1024, 131073, DType::f32), 0);  // rows that begin anywhere
  EXPECT_EQ(staying(1024, 131072, DType::f32, true), 0);
  EXPECT_EQ(staying(4096, 32768, DType::f32), 30);
  EXPECT_EQ(staying(4096, 65536, DType::f16), 30);
}

INSTANTIATE_TEST_SUITE_P(Devices, LayerNormTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
