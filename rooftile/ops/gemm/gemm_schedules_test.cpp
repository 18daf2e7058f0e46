// How gemm's schedules and models cut a product up, and what they choose: on the host, no device is asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/operator.h"
#include "rooftile/ops/gemm/gemm.h"
#include "rooftile/ops/gemm/gemm_few.h"
#include "rooftile/ops/gemm/gemm_model.h"
#include "rooftile/ops/gemm/gemm_plan.h"
#include "rooftile/ops/gemm/gemm_tensor.h"

namespace rooftile {
namespace {

// Every step of every tile once, and the parts of a tile side by side.
TEST(GemmTestOfSchedules, UnitsCoverEveryStepOnce) {
  for (const std::uint32_t steps : {1U, 7U, 64U, 1000U}) {
    for (const std::uint32_t units : {1U, 3U, 64U, 264U}) {
      if (units > steps) continue;
      EXPECT_EQ(gemm_plan::first_step(steps, units, 0U), 0U);
      EXPECT_EQ(gemm_plan::first_step(steps, units, units), steps);
      for (std::uint32_t unit = 0; unit < units; ++unit) {
        const std::uint32_t first = gemm_plan::first_step(steps, units, unit);
        const std::uint32_t end = gemm_plan::first_step(steps, units, unit + 1);
        ASSERT_LT(first, end);
        EXPECT_EQ(gemm_plan::unit_of(steps, units, first), unit);
        EXPECT_EQ(gemm_plan::unit_of(steps, units, end - 1), unit);
      }
    }
  }
}

TEST(GemmTestOfSchedules, TheModelSplitsWhatDoesNotFillTheDevice) {
  DeviceProperties device;
  device.multiprocessors = 132;
  gemm_plan::Problem problem;
  problem.m = 128;
  problem.n = 128;
  problem.k = 65536;
  const gemm_plan::Schedule few = gemm_plan::fastest(problem, 4, device);
  EXPECT_GT(few.units, 100);
  problem.m = problem.n = 2048;
  problem.k = 2048;
  const gemm_plan::Schedule many = gemm_plan::fastest(problem, 4, device);
  EXPECT_EQ(many.units, 0);
  EXPECT_EQ(many.whole_tiles, 256);
}

// A cluster has a tile's steps to itself, none of its blocks without one, and the device holds all clusters at once.
TEST(GemmTestOfSchedules, ClustersFitTilesAndDevice) {
  DeviceProperties device;
  device.multiprocessors = 132;
  for (const std::int64_t extent : {1, 33, 64, 256, 512, 1000, 4096}) {
    for (const std::int64_t k : {0, 1, 33, 512, 65536}) {
      gemm_plan::Problem problem;
      problem.m = problem.n = extent;
      problem.k = k;
      const gemm_plan::Schedule schedule = gemm_plan::clustered(problem, device);
      const std::int64_t parts = schedule.units / schedule.split_tiles;
      EXPECT_EQ(schedule.split_tiles, schedule.tile_rows * schedule.tile_columns);
      EXPECT_EQ(schedule.units, parts * schedule.split_tiles);
      EXPECT_EQ(schedule.whole_tiles, 0);
      EXPECT_LE(parts, 16);
      EXPECT_LE(parts, schedule.steps);
      EXPECT_TRUE(parts <= 2 || schedule.units <= 264) << schedule.units;
      EXPECT_TRUE(schedule.size == gemm_plan::TileSize::narrow || parts <= 2 || schedule.units <= 132);
    }
  }
}

struct Division {
  struct Parts {
    std::uint32_t quotient;
    std::uint32_t remainder;
  };
  explicit Division(std::uint32_t by) : divisor(by) {}
  [[nodiscard]] Parts divide_with_remainder(std::uint32_t n) const { return {n / divisor, n % divisor}; }
  std::uint32_t divisor;
};

// Each place of out in one tile of one matrix, whatever bands there are.
TEST(GemmTestOfSchedules, WgmmasTilesCoverOutOnce) {
  for (const std::int64_t tile_rows : {1, 7, 8, 9, 33}) {
    for (const std::int64_t tile_columns : {1, 5}) {
      for (const int rows : {64, 128, 256, 512}) {
        const gemm_plan::WgmmaCut cut{.batches = 2, .tile_rows = tile_rows, .tile_columns = tile_columns};
        const gemm_plan::WgmmaPlaces<Division> places(cut, rows, 128);
        std::vector<int> seen(static_cast<std::size_t>(cut.tiles()));
        for (std::uint32_t tile = 0; tile < places.tiles(); ++tile) {
          const gemm_plan::WgmmaPlace place = places(tile);
          ASSERT_EQ(place.row % rows, 0);
          ASSERT_EQ(place.column % 128, 0);
          const std::int64_t at =
              (place.batch * tile_columns + place.column / 128) * tile_rows + place.row / rows;
          ASSERT_LT(at, cut.tiles());
          ++seen[static_cast<std::size_t>(at)];
        }
        EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), cut.tiles()) << tile_rows << " " << rows;
      }
    }
  }
}

// No block without a step, and all of them on the device at once where there is more than one to a tile.
TEST(GemmTestOfSchedules, PartsOfAFewRowsFillTheDevice) {
  DeviceProperties device;
  device.multiprocessors = 132;
  for (const std::int64_t m : {1, 8, 9, 33, 64}) {
    for (const std::int64_t n : {64, 1000, 4096, 14336}) {
      for (const std::int64_t k : {1, 513, 4096, 65536}) {
        gemm_plan::Problem problem;
        problem.m = m;
        problem.n = n;
        problem.k = k;
        const gemm_plan::SwapCut cut = gemm_plan::swap_cut(problem, device);
        EXPECT_GE(cut.rows, m);
        EXPECT_GE(cut.tiles() * gemm_plan::kSwapColumns, n);
        EXPECT_GE(std::int64_t{cut.steps} * gemm_plan::kSwapDepth, k);
        EXPECT_LE(cut.parts, gemm_plan::kMostSwapParts);
        EXPECT_LE(cut.parts, cut.steps);
        EXPECT_TRUE(cut.parts == 1 || cut.parts * cut.tiles() <= 132) << cut.parts;
      }
    }
  }
}

// What choose() names by what the model expects of each: on `sim`, whose rungs every build has, with an H200's multiprocessors.
TEST(GemmTestOfSchedules, ChoosesByTheModel) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.multiprocessors = 132;
  const auto chosen = [&](std::int64_t batches, std::int64_t m, std::int64_t n, std::int64_t k) {
    auto* memory = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
      return batches == 0 ? contiguous_view<void>(memory, DType::f32, gpu.device, {rows, columns})
                          : contiguous_view<void>(memory, DType::f32, gpu.device, {batches, rows, columns});
    };
    const GemmArgs args{.a = matrix(m, k), .b = matrix(k, n), .out = matrix(m, n)};
    return std::string(gemm_operator().choose(ArgsRef::of(args), gpu));
  };
  EXPECT_EQ(chosen(0, 4096, 4096, 4096), "stream_k");
  EXPECT_EQ(chosen(0, 1000, 1000, 1000), "stream_k");
  EXPECT_EQ(chosen(0, 128, 128, 65536), "stream_k");
  EXPECT_EQ(chosen(0, 512, 512, 512), "cluster_k");
  EXPECT_EQ(chosen(0, 256, 256, 256), "cluster_k");
  EXPECT_EQ(chosen(4096, 64, 64, 64), "persistent");
  EXPECT_EQ(chosen(4096, 32, 32, 32), "persistent");
  EXPECT_EQ(chosen(512, 128, 128, 128), "stream_k");
  EXPECT_EQ(chosen(0, 16, 4096, 4096), "skinny");
  const auto of_halves = [&](std::int64_t m, std::int64_t n, std::int64_t k, bool transpose_b) {
    auto* memory = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
      return contiguous_view<void>(memory, DType::bf16, gpu.device, {rows, columns});
    };
    const GemmArgs args{.a = matrix(m, k),
                        .b = transpose_b ? matrix(n, k) : matrix(k, n),
                        .out = matrix(m, n),
                        .transpose_b = transpose_b};
    return std::string(gemm_operator().choose(ArgsRef::of(args), gpu));
  };
  EXPECT_EQ(of_halves(1, 4096, 4096, true), "dependent_fragments");
  EXPECT_EQ(of_halves(8, 4096, 4096, true), "dependent_fragments");
  EXPECT_EQ(of_halves(16, 1024, 1024, true), "dependent_fragments");
  EXPECT_EQ(of_halves(1, 14336, 4096, true), "dependent_fragments");
  EXPECT_EQ(of_halves(1, 4096, 4096, false), "swap_ab");
  EXPECT_EQ(of_halves(16, 14336, 4096, true), "swap_ab");
  EXPECT_EQ(of_halves(64, 14336, 4096, true), "swap_ab");
  EXPECT_EQ(of_halves(24, 4096, 4096, true), "swap_ab");
  EXPECT_EQ(of_halves(64, 4096, 4096, true), "cluster_split_k");
  EXPECT_EQ(of_halves(64, 1001, 4096, true), "swap_ab");
  EXPECT_EQ(of_halves(4096, 40, 4096, false), "swap_ab");
  EXPECT_EQ(of_halves(65, 4096, 4096, true), "cluster_split_k");
  EXPECT_EQ(of_halves(768, 768, 768, true), "cluster_split_k");
  EXPECT_EQ(of_halves(1000, 1000, 1000, true), "cluster_multicast");
  EXPECT_EQ(of_halves(1024, 1024, 1024, true), "warp_specialized");
  EXPECT_EQ(of_halves(4096, 4096, 4096, true), "warp_specialized");
}

// Of tiles the reasons end with what is launched; a CPU, and a product without elements, have none.
TEST(GemmTestOfSchedules, TheModelSaysItsReasons) {
  DeviceProperties device = *device_properties(kSim).value();
  device.multiprocessors = 132;
  const auto reasons = [&](std::int64_t m, DType dtype = DType::f32) {
    auto* memory = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
      return contiguous_view<void>(memory, dtype, device.device, {rows, columns});
    };
    const GemmArgs args{.a = matrix(m, 65536), .b = matrix(65536, 128), .out = matrix(m, 128)};
    return gemm_operator().explain(ArgsRef::of(args), device);
  };
  const std::string text = reasons(128);
  const std::size_t last = text.find("fastest of tiles: ");
  ASSERT_NE(last, std::string::npos) << text;
  EXPECT_NE(text.find(" blocks", last), std::string::npos) << text;  // cut along k
  EXPECT_NE(text.find("rounds of"), std::string::npos) << text;
  EXPECT_NE(reasons(128, DType::bf16).find("warp_specialized: tiles of "), std::string::npos);
  EXPECT_NE(reasons(129, DType::bf16).find("a lies along k, b across k"), std::string::npos);
  EXPECT_EQ(reasons(64, DType::bf16).find("swap_ab: 2 tiles of 64 x 64, 512 steps of 128 in 8 parts: "), 0U);
  EXPECT_EQ(reasons(0), "");
  device.compute_capability = 80;
  EXPECT_EQ(reasons(128, DType::bf16), "");  // there is no model of its rungs
  device.device = kCpu;
  EXPECT_EQ(reasons(128), "");
}

// The rungs with the smallest figure of those that the reasons name, "swap_ab: ...: 41.3 us".
std::string of_least(const std::string& reasons) {
  std::istringstream lines(reasons);
  std::string least;
  double microseconds = std::numeric_limits<double>::infinity();
  for (std::string line; std::getline(lines, line);) {
    const std::size_t name_ends = line.find_first_of(":,");
    const std::size_t figure = line.rfind(": ");
    if (name_ends == std::string::npos || line.find(' ') < name_ends || line.size() < 4 ||
        line.compare(line.size() - 3, 3, " us") != 0)
      continue;
    const double now = std::stod(line.substr(figure + 2));
    if (now < microseconds) {
      microseconds = now;
      least = line.substr(0, figure);
    }
  }
  return least;
}

TEST(GemmTestOfSchedules, WhatIsChosenIsTheLeastOfTheReasons) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.multiprocessors = 132;
  const Extents shapes[] = {{1, 4096, 4096},    {16, 14336, 4096},  {64, 14336, 4096}, {64, 4096, 4096},
                            {24, 4096, 4096},   {4096, 40, 4096},   {65, 4096, 4096},  {768, 768, 768},
                            {1000, 1000, 1000}, {1024, 1024, 1024}, {4096, 4096, 4096}};
  auto* memory = reinterpret_cast<void*>(std::uintptr_t{1} << 40);
  const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
    return contiguous_view<void>(memory, DType::bf16, gpu.device, {rows, columns});
  };
  for (const Extents& mnk : shapes) {
    for (const bool transpose_b : {true, false}) {
      const GemmArgs args{.a = matrix(mnk[0], mnk[2]),
                          .b = transpose_b ? matrix(mnk[1], mnk[2]) : matrix(mnk[2], mnk[1]),
                          .out = matrix(mnk[0], mnk[1]),
                          .transpose_b = transpose_b};
      const std::string reasons = gemm_operator().explain(ArgsRef::of(args), gpu);
      const std::string chosen(gemm_operator().choose(ArgsRef::of(args), gpu));
      EXPECT_EQ(of_least(reasons).find(chosen), 0U) << mnk.to_string() << " " << chosen << "\n" << reasons;
    }
  }
}

}  // namespace
}  // namespace rooftile
