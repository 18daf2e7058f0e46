// gemm by every tile and cluster, wherever a product is cut, on every device that is usable here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_few.h"
#include "rooftile/ops/gemm/gemm_model.h"
#include "rooftile/ops/gemm/gemm_plan.h"
#include "rooftile/ops/gemm/gemm_tensor.h"
#include "rooftile/ops/gemm/gemm_testing.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

class GemmTestOfCuts : public WithMatrices<OnEveryDevice> {
 protected:
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
                    const int log_blocks = cluster.log_down + cluster.log_across;
                    gemm_plan::WgmmaCut cut =
                        log_blocks > 0 ? gemm_plan::multicast_cut(problem, cluster, context().properties())
                                       : gemm_plan::wgmma_cut(problem, cluster.shape, context().properties());
                    // One tile after the other, however many multiprocessors there are.
                    cut.blocks = std::min(cut.blocks, std::int64_t{3} << log_blocks);
                    return cut;
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
};

// Whatever the model would take: whole tiles, and parts of one step and of several.
TEST_P(GemmTestOfCuts, EverySizeOfTilesWhereverTheyAreCut) {
  for (const DType dtype : {DType::f32, DType::f64}) {
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

TEST_P(GemmTestOfCuts, EverySizeOfTilesInClusters) {
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

// More tiles than blocks, tiles that end outside, and rows that have to be copied first (k = 75, n = 261).
TEST_P(GemmTestOfCuts, EveryShapeOfWgmmasTiles) {
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
TEST_P(GemmTestOfCuts, EveryShapeOfPartsOfTiles) {
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
TEST_P(GemmTestOfCuts, TilesOfOperandsAcrossK) {
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
TEST_P(GemmTestOfCuts, AFewRowsInEveryNumberOfParts) {
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

INSTANTIATE_TEST_SUITE_P(Devices, GemmTestOfCuts, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
