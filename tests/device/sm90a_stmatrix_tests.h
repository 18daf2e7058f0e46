// stmatrix against a plain loop. Included by one test program per target.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "tests/device/sm90a_stmatrix.h"
#include "tests/device/sm90a_testing.h"

namespace rooftile::testing_sm90a {

class Sm90aStmatrix : public ::testing::TestWithParam<Target<StmatrixKernels>> {
 protected:
  void SetUp() override { start(GetParam(), context_); }
  std::optional<Context> context_;
};

TEST_P(Sm90aStmatrix, EveryFormToRowsThatLieAnywhere) {
  constexpr std::size_t kLanes = 32;
  std::mt19937 random(13);
  std::vector<std::uint32_t> places(kStmatrixMemory / 16);
  std::iota(places.begin(), places.end(), 0u);
  for (const std::size_t matrices : {1u, 2u, 4u}) {
    // Every half another one, and none of them 0.
    std::vector<std::uint32_t> in(kLanes * matrices);
    for (std::uint32_t i = 0; i < in.size(); ++i) in[i] = (2 * i + 1) | (2 * i + 2) << 16;
    const DeviceArray<std::uint32_t> g_in(*context_, in);
    for (const bool transposed : {false, true}) {
      for (int time = 0; time < 20; ++time) {
        if (time > 0) std::shuffle(places.begin(), places.end(), random);
        std::vector<std::uint32_t> rows(kLanes);
        for (std::size_t lane = 0; lane < kLanes; ++lane) rows[lane] = 16 * places[lane];
        const DeviceArray<std::uint32_t> g_rows(*context_, rows);
        const DeviceArray<std::uint32_t> out(*context_, std::vector<std::uint32_t>(kStmatrixMemory / 4, 77u));
        ASSERT_TRUE(is_ok(GetParam().kernels.store(context_->stream(), static_cast<int>(matrices), transposed,
                                                   g_in.data(), g_rows.data(), out.data())));
        std::vector<std::uint32_t> expected(kStmatrixMemory / 4);
        for (std::size_t i = 0; i < matrices; ++i) {
          for (std::size_t row = 0; row < 8; ++row) {
            for (std::size_t column = 0; column < 8; ++column) {
              const std::size_t across = transposed ? column : row;
              const std::size_t along = transposed ? row : column;
              const std::uint32_t held = in[(across * 4 + along / 2) * matrices + i];
              const std::uint32_t half = held >> 16 * (along % 2) & 0xffffu;
              expected[(rows[8 * i + row] + 2 * column) / 4] |= half << 16 * (column % 2);
            }
          }
        }
        EXPECT_EQ(out.read(), expected) << matrices << " matrices, transposed " << transposed;
      }
    }
  }
}

}  // namespace rooftile::testing_sm90a
