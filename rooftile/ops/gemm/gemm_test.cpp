// What is special to gemm: layouts, what is not read, bad calls, and tiles wherever a product is cut, on every device that is
// usable here. The cases themselves run through the lab.
#include "rooftile/ops/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"
#include "rooftile/ops/gemm/gemm_few.h"
#include "rooftile/ops/gemm/gemm_model.h"
#include "rooftile/ops/gemm/gemm_plan.h"
#include "rooftile/ops/gemm/gemm_tensor.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr DType kDTypes[] = {DType::f32, DType::f64};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Small integers without a period: sums of their products are exact.
double number_at(std::int64_t i) { return static_cast<double>(1 + i * i / 5 % 3); }

std::vector<double> product(std::int64_t m, std::int64_t n, std::int64_t k) {
  std::vector<double> result(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t l = 0; l < k; ++l)
        result[static_cast<std::size_t>(i * n + j)] += number_at(i * k + l) * number_at(l * n + j);
    }
  }
  return result;
}

class GemmTest : public OnEveryDevice {
 protected:
  template <class Value>
  Tensor tensor(DType dtype, const Extents& shape, Value value) {
    HostTensor host = HostTensor::create(dtype, shape).value();
    for (std::int64_t i = 0; i < host.numel(); ++i) host.set(i, value(i));
    return Tensor::from(context(), host.view()).value();
  }
  Tensor numbers(DType dtype, const Extents& shape) { return tensor(dtype, shape, number_at); }
  Tensor filled(DType dtype, const Extents& shape, double value) {
    return tensor(dtype, shape, [value](std::int64_t) { return value; });
  }
  static std::vector<double> values(const Tensor& tensor) {
    std::vector<double> result;
    switch (tensor.dtype()) {
      case DType::f64:
        return tensor.to_vector<double>().value();
      case DType::f32:
        for (const float x : tensor.to_vector<float>().value()) result.push_back(x);
        return result;
      case DType::f16:
        for (const Float16 x : tensor.to_vector<Float16>().value()) result.push_back(to_float(x));
        return result;
      default:
        for (const BFloat16 x : tensor.to_vector<BFloat16>().value()) result.push_back(to_float(x));
        return result;
    }
  }

  // By every rung that serves the call: `expected` each time, in the memory of `out`.
  void expect_of_all(const GemmArgs& args, Tensor& out, const std::vector<double>& expected,
                     const std::string& what) {
    int rungs = 0;
    for (const RungRow& rung : gemm_operator().rungs) {
      if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
      ++rungs;
      const Status status = run_rung(gemm_operator(), rung, context(), AnyArgs::of(args));
      ASSERT_TRUE(status.ok()) << rung.id << ": " << status.message();
      EXPECT_EQ(values(out), expected) << rung.id << " " << what;
    }
    EXPECT_GE(rungs, GetParam().kind == DeviceKind::cpu ? 3 : 1) << what;
  }

  // schedules(problem) of a rung, by every way of the operands and every way out: k a multiple of vectors and one less, rows of out that
  // hold vectors and that do not, with a bias and without.
  template <class Schedules>
  void expect_of_schedules(const char* name, DType dtype, std::int64_t k_of_vectors, Schedules schedules) {
    const RungRow& rung = *gemm_operator().find_rung(name);
    if (GetParam().kind == DeviceKind::cpu || !unavailable_reason(rung, context().properties()).empty())
      return;
    for (const std::int64_t k : {k_of_vectors, k_of_vectors - 1}) {
      for (const std::int64_t n : {136, 137}) {
        for (const bool has_bias : {false, true}) expect_of_operands(rung, dtype, n, k, has_bias, schedules);
      }
    }
  }
  template <class Schedules>
  void expect_of_operands(const RungRow& rung, DType dtype, std::int64_t n, std::int64_t k, bool has_bias,
                          Schedules schedules) {
    constexpr std::int64_t kM = 140;
    Tensor memory = filled(DType::f64, {1 << 20}, kNan);
    const Workspace workspace{.data = memory.data(), .bytes = std::size_t{8} << 20};
    std::vector<double> expected = product(kM, n, k);
    const Tensor bias = numbers(dtype, {n});
    if (has_bias)
      for (std::int64_t i = 0; i < kM * n; ++i) expected[static_cast<std::size_t>(i)] += number_at(i % n);
    const Tensor rows_a = numbers(dtype, {kM, k});
    const Tensor rows_b = numbers(dtype, {k, n});
    const Tensor columns_a =
        tensor(dtype, {k, kM}, [k](std::int64_t i) { return number_at(i % kM * k + i / kM); });
    const Tensor columns_b =
        tensor(dtype, {n, k}, [n, k](std::int64_t i) { return number_at(i % k * n + i / k); });
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        Tensor out = filled(dtype, {kM, n}, kNan);
        GemmArgs args = {.a = transpose_a ? columns_a : rows_a,
                         .b = transpose_b ? columns_b : rows_b,
                         .out = out,
                         .transpose_a = transpose_a,
                         .transpose_b = transpose_b};
        if (has_bias) args.bias = bias;
        for (const gemm_plan::Schedule& schedule : schedules(gemm_plan::problem_of(args))) {
          Tensor fresh = filled(dtype, {kM, n}, kNan);
          args.out = fresh;
          const RungPlan plan{.config = PlanConfig::of(schedule)};
          const Status status = launch_for(rung, GetParam().kind)({.stream = context().stream(),
                                                                   .device = &context().properties(),
                                                                   .args = ArgsRef::of(args),
                                                                   .plan = &plan,
                                                                   .workspace = workspace});
          ASSERT_TRUE(status.ok()) << status.message();
          ASSERT_EQ(values(fresh), expected)
              << rung.id << " " << to_string(dtype) << " n " << n << " k " << k << (has_bias ? " bias" : "")
              << (transpose_a ? " T" : " N") << (transpose_b ? "T" : "N") << " size "
              << static_cast<int>(schedule.size) << " units " << schedule.units << " of "
              << schedule.split_tiles;
        }
      }
    }
  }

  // A rung with this shape of wgmma's tiles.
  void expect_of_shape(const char* name, const gemm_plan::WgmmaCluster& cluster, DType dtype, DType out_dtype,
                       const Extents& mnk, bool has_bias) {
    expect_of_cut(name, cluster.shape, dtype, out_dtype, mnk, has_bias,
                  [&](const gemm_plan::Problem& problem) {
                    return cluster.log_down + cluster.log_across > 0
                               ? gemm_plan::multicast_cut(problem, cluster, context().properties())
                               : gemm_plan::wgmma_cut(problem, cluster.shape, context().properties());
                  });
  }
  // A rung that is told how to cut a product. Sums of small integers are exact in f32, and up to 256 in bf16. has_bias: and relu.
  template <class CutOf>
  void expect_of_cut(const char* name, int shape, DType dtype, DType out_dtype, const Extents& mnk,
                     bool has_bias, CutOf cut_of, bool across = false) {
    const RungRow& rung = *gemm_operator().find_rung(name);
    if (GetParam().kind == DeviceKind::cpu || !unavailable_reason(rung, context().properties()).empty())
      return;
    const std::int64_t m = mnk[0];
    const std::int64_t n = mnk[1];
    const std::int64_t k = mnk[2];
    std::vector<double> expected = product(m, n, k);
    const Tensor bias = numbers(out_dtype, {n});
    if (has_bias) {
      for (std::int64_t i = 0; i < m * n; ++i) {
        double& x = expected[static_cast<std::size_t>(i)];
        x = std::max(x + number_at(i % n), 0.0);
      }
    }
    const Tensor a =
        across ? tensor(dtype, {k, m}, [m, k](std::int64_t i) { return number_at(i % m * k + i / m); })
               : numbers(dtype, {m, k});
    const Tensor b =
        across ? numbers(dtype, {k, n})
               : tensor(dtype, {n, k}, [n, k](std::int64_t i) { return number_at(i % k * n + i / k); });
    Tensor memory = filled(DType::f64, {1 << 18}, kNan);
    Tensor out = filled(out_dtype, {m, n}, kNan);
    GemmArgs args = {.a = a, .b = b, .out = out, .transpose_a = across, .transpose_b = !across};
    if (has_bias) {
      args.bias = bias;
      args.activation = GemmActivation::relu;
    }
    const RungPlan plan{.config = PlanConfig::of(cut_of(gemm_plan::problem_of(args)))};
    const Status status = launch_for(
        rung, GetParam().kind)({.stream = context().stream(),
                                .device = &context().properties(),
                                .args = ArgsRef::of(args),
                                .plan = &plan,
                                .workspace = {.data = memory.data(), .bytes = std::size_t{2} << 20}});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(values(out), expected) << name << " shape " << shape << " " << mnk.to_string()
                                     << (has_bias ? " bias" : "");
  }

  // swap_ab by clusters of so many blocks: m few rows, or n few columns.
  void expect_of_parts(int parts, const Extents& mnk, bool transpose_b) {
    const RungRow& rung = *gemm_operator().find_rung("swap_ab");
    if (GetParam().kind == DeviceKind::cpu || !unavailable_reason(rung, context().properties()).empty())
      return;
    const std::int64_t m = mnk[0];
    const std::int64_t n = mnk[1];
    const std::int64_t k = mnk[2];
    const Tensor a = numbers(DType::bf16, {m, k});
    const Tensor b = transpose_b ? tensor(DType::bf16, {n, k},
                                          [n, k](std::int64_t i) { return number_at(i % k * n + i / k); })
                                 : numbers(DType::bf16, {k, n});
    Tensor memory = filled(DType::f64, {1 << 18}, kNan);
    // As where L2 holds the many, and where it does not.
    for (const std::size_t cache : {context().properties().last_level_cache, std::size_t{0}}) {
      DeviceProperties device = context().properties();
      device.last_level_cache = cache;
      Tensor out = filled(DType::f32, {m, n}, kNan);
      const GemmArgs args = {.a = a, .b = b, .out = out, .transpose_b = transpose_b};
      gemm_plan::SwapCut cut = gemm_plan::swap_cut(gemm_plan::skinny_problem_of(args), device);
      cut.parts = parts;
      const RungPlan plan{.config = PlanConfig::of(cut)};
      const Status status = launch_for(
          rung, GetParam().kind)({.stream = context().stream(),
                                  .device = &device,
                                  .args = ArgsRef::of(args),
                                  .plan = &plan,
                                  .workspace = {.data = memory.data(), .bytes = std::size_t{2} << 20}});
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(values(out), product(m, n, k))
          << parts << " parts of " << mnk.to_string() << (transpose_b ? " NT" : " NN") << ", L2 of " << cache;
    }
  }

  std::string refusal(const GemmArgs& args) {
    const Status status = gemm(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
};

TEST_P(GemmTest, OneCallMakesAMatrix) {
  const Tensor a = numbers(DType::f32, {3, 5});
  const Tensor b = numbers(DType::f32, {5, 4});
  const Result<Tensor> out = gemm(context(), a, b);
  ASSERT_TRUE(out.ok()) << out.status().message();
  EXPECT_EQ(out->shape(), (Extents{3, 4}));
  EXPECT_EQ(values(*out), product(3, 4, 5));
}

TEST_P(GemmTest, AColumnMajorResultIsTheTransposedProduct) {
  constexpr std::int64_t kM = 70;
  constexpr std::int64_t kN = 36;
  constexpr std::int64_t kK = 20;
  for (const DType dtype : kDTypes) {
    const Tensor a = numbers(dtype, {kM, kK});
    const Tensor b = numbers(dtype, {kK, kN});
    Tensor out = filled(dtype, {kN, kM}, kNan);
    const std::vector<double> rows = product(kM, kN, kK);
    std::vector<double> columns(rows.size());
    for (std::int64_t i = 0; i < kM; ++i)
      for (std::int64_t j = 0; j < kN; ++j)
        columns[static_cast<std::size_t>(j * kM + i)] = rows[static_cast<std::size_t>(i * kN + j)];
    expect_of_all({.a = a, .b = b, .out = out.view().permute({1, 0})}, out, columns, "column-major");
  }
}

TEST_P(GemmTest, OneMatrixServesAWholeBatch) {
  const Tensor a = numbers(DType::f32, {7, 6});
  const Tensor b = tensor(DType::f32, {3, 6, 5}, [](std::int64_t i) { return number_at(i % 30); });
  Tensor out = filled(DType::f32, {3, 7, 5}, kNan);
  std::vector<double> expected;
  for (int batch = 0; batch < 3; ++batch)
    for (const double x : product(7, 5, 6)) expected.push_back(x);
  expect_of_all({.a = a, .b = b, .out = out}, out, expected, "a without a batch");
}

TEST_P(GemmTest, StridesThatNoMatrixInBlasHas) {
  const Tensor a = numbers(DType::f32, {3, 10});
  const Tensor b = numbers(DType::f32, {5, 4});
  Tensor out = filled(DType::f32, {3, 4}, kNan);
  // Every second column, from the last one on, and a row that is the same for all.
  const ConstTensorView backwards = a.view().slice(1, 0, 10, 2).flip(1);
  std::vector<double> expected(12);
  for (std::int64_t i = 0; i < 3; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      for (std::int64_t l = 0; l < 5; ++l)
        expected[static_cast<std::size_t>(i * 4 + j)] += number_at(i * 10 + 8 - 2 * l) * number_at(l * 4 + j);
    }
  }
  expect_of_all({.a = backwards, .b = b, .out = out}, out, expected, "backwards");
}

// Whatever the model would take: whole tiles, and parts of one step and of several.
TEST_P(GemmTest, EverySizeOfTilesWhereverTheyAreCut) {
  for (const DType dtype : kDTypes) {
    expect_of_schedules("stream_k", dtype, 44, [&](const gemm_plan::Problem& problem) {
      std::vector<gemm_plan::Schedule> schedules;
      for (const gemm_plan::TileSize size : gemm_plan::kTileSizes) {
        if (!gemm_plan::has_tiles(size_of(dtype), size)) continue;
        for (const std::int64_t units : {0, 3, 5, 1000}) {
          gemm_plan::Schedule schedule = gemm_plan::whole_tiles(problem, size_of(dtype), size);
          if (units > 0) {
            schedule.split_tiles = units == 5 ? 1 : schedule.whole_tiles;
            schedule.whole_tiles -= schedule.split_tiles;
            schedule.units = std::min(units, schedule.split_tiles * schedule.steps);
          }
          schedules.push_back(schedule);
        }
      }
      return schedules;
    });
  }
}

TEST_P(GemmTest, EverySizeOfTilesInClusters) {
  expect_of_schedules("cluster_k", DType::f32, 136, [](const gemm_plan::Problem& problem) {
    std::vector<gemm_plan::Schedule> schedules;
    for (const gemm_plan::TileSize size : {gemm_plan::TileSize::sliced, gemm_plan::TileSize::narrow}) {
      for (const std::int64_t parts : {1, 4}) {
        gemm_plan::Schedule schedule = gemm_plan::whole_tiles(problem, sizeof(float), size);
        std::swap(schedule.split_tiles, schedule.whole_tiles);
        schedule.units = parts * schedule.split_tiles;
        schedules.push_back(schedule);
      }
    }
    return schedules;
  });
}

// Zeros say nothing about what is not finite.
TEST_P(GemmTest, WhatAFactorOfZeroSaysNothingAboutIsNotRead) {
  for (const DType dtype : kDTypes) {
    const Tensor a = numbers(dtype, {70, 9});
    const Tensor b = numbers(dtype, {9, 12});
    const Tensor nan_a = filled(dtype, {70, 9}, kNan);
    const Tensor c = numbers(dtype, {70, 12});
    Tensor out = filled(dtype, {70, 12}, kNan);
    expect_of_all({.a = a, .b = b, .c = out, .out = out, .beta = 0}, out, product(70, 12, 9), "beta = 0");
    std::vector<double> twice = values(c);
    for (double& x : twice) x *= 2;
    expect_of_all({.a = nan_a, .b = b, .c = c, .out = out, .alpha = 0, .beta = 2}, out, twice, "alpha = 0");
  }
}

// More tiles than blocks, tiles that end outside, and rows that have to be copied first (k = 75, n = 261).
TEST_P(GemmTest, EveryShapeOfWgmmasTiles) {
  for (int number = 0; number < gemm_plan::kRingShapes; ++number) {
    const gemm_plan::WgmmaCluster shape{.shape = number, .log_down = 0, .log_across = 0};
    for (const DType dtype : {DType::bf16, DType::f16}) {
      expect_of_shape("warp_specialized", shape, dtype, DType::f32, {200, 264, 200}, false);
      expect_of_shape("warp_specialized", shape, dtype, DType::f32, {130, 261, 75}, true);
      for (const bool has_bias : {false, true})
        expect_of_shape("warp_specialized", shape, dtype, dtype, {130, 328, 20}, has_bias);
      expect_of_shape("warp_specialized", shape, dtype, dtype, {130, 261, 20}, true);
      for (const std::int64_t n : {321, 324, 327, 450})  // rows that begin anywhere
        expect_of_shape("warp_specialized", shape, dtype, dtype, {70, n, 20}, false);
    }
  }
  for (const gemm_plan::WgmmaCluster& cluster : gemm_plan::kWgmmaClusters) {
    // One tile after the other (of 3 clusters and more), and steps enough for every stage to be asked for again.
    expect_of_shape("cluster_multicast", cluster, DType::bf16, DType::f32, {300, 520, 200}, true);
    for (const bool has_bias : {false, true})
      expect_of_shape("cluster_multicast", cluster, DType::f16, DType::f16, {530, 328, 20}, has_bias);
    expect_of_shape("cluster_multicast", cluster, DType::bf16, DType::f32, {70, 80, 1000}, false);
  }
}

// Stages that come by one request and by two (k = 200), parts of steps that are not equally many, rings that go round.
TEST_P(GemmTest, EveryShapeOfPartsOfTiles) {
  constexpr int kShapes = std::size(gemm_plan::kPartShapes);
  for (int shape = 0; shape < kShapes; ++shape) {
    for (int log_parts = 0; log_parts <= gemm_plan::kPartShapes[shape].log_parts; ++log_parts) {
      const auto expect = [&](DType dtype, DType out_dtype, const Extents& mnk, bool has_bias) {
        expect_of_cut("cluster_split_k", shape, dtype, out_dtype, mnk, has_bias,
                      [&](const gemm_plan::Problem& problem) {
                        return gemm_plan::parts_cut(problem, shape, log_parts, context().properties());
                      });
      };
      for (const DType dtype : {DType::bf16, DType::f16}) {
        expect(dtype, DType::f32, {70, 72, 640}, false);
        expect(dtype, DType::f32, {130, 75, 200}, true);
        expect(dtype, dtype, {70, 72, 20}, false);
      }
      expect(DType::bf16, DType::f32, {20, 24, 4096 + 64}, false);
    }
  }
}

// Operands that lie across k, whose tiles are boxes of 64.
TEST_P(GemmTest, TilesOfOperandsAcrossK) {
  const Extents mnk{136, 200, 328};
  for (const gemm_plan::WgmmaCluster& cluster : gemm_plan::kWgmmaClusters) {
    if (!gemm_plan::has_wgmma_columns(cluster.shape, false)) continue;
    expect_of_cut(
        "cluster_multicast", cluster.shape, DType::f16, DType::f32, mnk, false,
        [&](const gemm_plan::Problem& problem) {
          return gemm_plan::multicast_cut(problem, cluster, context().properties());
        },
        true);
  }
  constexpr int kShapes = std::size(gemm_plan::kPartShapes);
  for (int shape = 0; shape < kShapes; ++shape) {
    if (!gemm_plan::has_part_columns(shape, false)) continue;
    expect_of_cut(
        "cluster_split_k", shape, DType::bf16, DType::f32, mnk, false,
        [&](const gemm_plan::Problem& problem) {
          return gemm_plan::parts_cut(problem, shape, 0, context().properties());
        },
        true);
  }
}

// Also of fewer rows than parts, and of steps that do not divide.
TEST_P(GemmTest, AFewRowsInEveryNumberOfParts) {
  for (const int parts : {1, 2, 4, 8}) {
    for (const bool transpose_b : {false, true}) {
      for (const std::int64_t m : {3, 16, 40}) {
        expect_of_parts(parts, {m, 72, 1096}, transpose_b);
        expect_of_parts(parts, {136, m, 1096}, transpose_b);
        expect_of_parts(parts, {m, 72, 1088}, transpose_b);  // lines of 64, the last step half of one
      }
    }
  }
}

// Strides that TMA cannot take: of a row that is alone, of a batch that goes backwards.
TEST_P(GemmTest, HalvesOfStridesThatDoNotCount) {
  const Tensor memory = numbers(DType::bf16, {1, 17});
  const ConstTensorView row = memory.view().slice(1, 0, 16, 1);
  const Tensor b = numbers(DType::bf16, {16, 24});
  Tensor out = filled(DType::f32, {1, 24}, kNan);
  expect_of_all({.a = row, .b = b, .out = out}, out, product(1, 24, 16), "one row");
  const Tensor line = numbers(DType::bf16, {1, 17});
  Tensor outer = filled(DType::f32, {8, 16}, kNan);
  const Tensor column = numbers(DType::bf16, {8, 1});
  expect_of_all({.a = column, .b = line.view().slice(1, 0, 16, 1), .out = outer}, outer, product(8, 16, 1),
                "one line");
  const Tensor batch = tensor(DType::bf16, {2, 8, 16},
                              [](std::int64_t i) { return number_at(i % 128) + (i < 128 ? 1.0 : 0.0); });
  Tensor backwards = filled(DType::f32, {2, 8, 24}, kNan);
  std::vector<double> expected = product(8, 24, 16);
  for (std::int64_t i = 0; i < std::int64_t{8} * 24; ++i) {
    double more = expected[static_cast<std::size_t>(i)];
    for (std::int64_t l = 0; l < 16; ++l) more += number_at(l * 24 + i % 24);
    expected.push_back(more);
  }
  expect_of_all({.a = batch.view().flip(0), .b = b, .out = backwards}, backwards, expected, "backwards");
}

TEST_P(GemmTest, ResultsOfHalvesAreHalvesOrFloats) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Tensor a = numbers(dtype, {9, 16});
    const Tensor b = numbers(dtype, {16, 24});
    Tensor wide = filled(DType::f32, {9, 24}, kNan);
    expect_of_all({.a = a, .b = b, .out = wide}, wide, product(9, 24, 16), "f32");
    const Result<Tensor> made = gemm(context(), a, b, {.out_dtype = DType::f32});
    ASSERT_TRUE(made.ok()) << made.status().message();
    EXPECT_EQ(made->dtype(), DType::f32);
    const Result<Tensor> half = gemm(context(), a, b);
    ASSERT_TRUE(half.ok()) << half.status().message();
    EXPECT_EQ(half->dtype(), dtype);
  }
  const Tensor a = numbers(DType::bf16, {4, 6});
  const Tensor b = numbers(DType::bf16, {6, 8});
  Tensor out = filled(DType::bf16, {4, 8}, 0);
  Tensor f16 = filled(DType::f16, {4, 8}, 0);
  Tensor f32 = filled(DType::f32, {4, 8}, 0);
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal({.a = a, .b = b, .out = f16}), "out is f16 and must be");
  has(refusal({.a = a, .b = b, .c = f32, .out = out}), "c is f32 and must be of out's dtype, bf16");
  const Tensor bias = numbers(DType::f32, {8});
  has(refusal({.a = a, .b = b, .bias = bias, .out = out}), "bias is f32 and must be of out's dtype, bf16");
  has(refusal({.a = a, .b = b, .out = out, .out_dtype = DType::f32}), "out_dtype is f32 and out is another");
}

TEST_P(GemmTest, BadCallsNameTheArgument) {
  const Tensor a = numbers(DType::f32, {4, 6});
  const Tensor b = numbers(DType::f32, {6, 8});
  Tensor out = filled(DType::f32, {4, 8}, 0);
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal({.a = b, .b = b, .out = out}), "op(a) has 8 columns and op(b) 6 rows");
  ConstTensorView narrow = b;
  narrow.strides = {7, 1};
  has(refusal({.a = a, .b = narrow, .out = out}), "b has a leading dimension of 7");
  TensorView overlapping = out;
  overlapping.strides = {7, 1};
  has(refusal({.a = a, .b = b, .out = overlapping}), "out");
  const Tensor square = numbers(DType::f32, {6, 6});
  Tensor target = filled(DType::f32, {6, 6}, 0);
  has(refusal({.a = target, .b = square, .out = target}), "out must not overlap a");
  has(refusal({.a = square, .b = target, .out = target}), "out must not overlap b");
  const Tensor short_bias = numbers(DType::f32, {7});
  has(refusal({.a = a, .b = b, .bias = short_bias, .out = out}), "bias is [7] and must be [8]");
  const Tensor short_c = numbers(DType::f32, {4, 7});
  has(refusal({.a = a, .b = b, .c = short_c, .out = out}), "c is [4,7]");
  ConstTensorView negative = a;
  negative.shape = {-4, 6};
  EXPECT_NE(refusal({.a = negative, .b = b, .out = out}), "accepted");
}

INSTANTIATE_TEST_SUITE_P(Devices, GemmTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
