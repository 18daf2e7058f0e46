// What is special to softmax: tensors of more axes, what it refuses, and shifts of a row, on every device that is usable here.
// The cases themselves run through the lab.
#include "rooftile/ops/softmax/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "rooftile/core/operator.h"
#include "rooftile/ops/softmax/softmax_plan.h"
#include "tests/ops/operator_fixture.h"

namespace rooftile {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Without a period that rows could have in common; between -3 and 3.
float number_at(std::int64_t i) { return static_cast<float>(i * i / 3 % 97) / 16.0f - 3.0f; }

class SoftmaxTest : public OnEveryDevice {
 protected:
  template <class Expect>
  void for_every_rung(const SoftmaxArgs& args, int least, Expect expect) {
    OnEveryDevice::for_every_rung(softmax_operator(), args, least, expect);
  }
  std::string refusal(const SoftmaxArgs& args) {
    const Status status = softmax(context(), args);
    return status.ok() ? "accepted" : std::string(status.rule());
  }
};

std::vector<double> softmax_of(const std::vector<float>& row) {
  double maximum = -std::numeric_limits<double>::infinity();
  for (const float x : row) maximum = std::max(maximum, static_cast<double>(x));
  double sum = 0;
  for (const float x : row) sum += std::exp(x - maximum);
  std::vector<double> y;
  for (const float x : row) y.push_back(std::exp(x - maximum) / sum);
  return y;
}

// [2, 3, 40] out of [2, 5, 48]: rows at two strides, in x and, differently, in y; whose vectors lie alike or do not.
// Short ones that lie anyhow, and long ones of whole vectors.
TEST_P(SoftmaxTest, RowsMayLieAtTwoStrides) {
  struct Columns {
    std::int64_t count;
    std::int64_t in_from;
    std::int64_t out_from;
  };
  for (const Columns& at : {Columns{40, 3, 0}, Columns{40, 3, 1}, Columns{40, 3, 4}, Columns{2048, 4, 0}}) {
    const std::int64_t columns = at.count;
    const std::int64_t in_from = at.in_from;
    const std::int64_t out_from = at.out_from;
    const std::int64_t pitch = columns + 8;
    const Tensor room = tensor({2, 5, pitch}, number_at);
    const ConstTensorView x = std::as_const(room).view().slice(1, 1, 4).slice(2, in_from, in_from + columns);
    Tensor out = tensor({2, 4, pitch}, [](std::int64_t) { return kNan; });
    const TensorView y = out.view().slice(1, 0, 3).slice(2, out_from, out_from + columns);
    for_every_rung({.x = x, .y = y}, 2, [&](const std::string& rung) {
      const std::vector<float> all = out.to_vector<float>().value();
      std::size_t nans = 0;
      for (const float value : all) nans += std::isnan(value) ? 1u : 0u;
      EXPECT_EQ(nans, all.size() - static_cast<std::size_t>(6 * columns)) << rung;
      for (std::int64_t b = 0; b < 2; ++b) {
        for (std::int64_t i = 0; i < 3; ++i) {
          std::vector<float> row;
          for (std::int64_t j = 0; j < columns; ++j)
            row.push_back(number_at((b * 5 + i + 1) * pitch + in_from + j));
          const std::vector<double> expected = softmax_of(row);
          for (std::int64_t j = 0; j < columns; ++j) {
            ASSERT_NEAR(all[static_cast<std::size_t>((b * 4 + i) * pitch + out_from + j)],
                        expected[static_cast<std::size_t>(j)], 1e-6)
                << rung << " " << b << " " << i << " " << j;
          }
        }
      }
    });
  }
}

// Elements a row apart, and rows that go backwards.
TEST_P(SoftmaxTest, ElementsMayHaveGaps) {
  const Tensor room = tensor({40, 6}, number_at);
  Tensor out = tensor({6, 40}, [](std::int64_t) { return kNan; });
  for_every_rung({.x = std::as_const(room).view().permute({1, 0}), .y = out}, 2,
                 [&](const std::string& rung) {
                   const std::vector<float> all = out.to_vector<float>().value();
                   for (std::int64_t i = 0; i < 6; ++i) {
                     std::vector<float> row;
                     for (std::int64_t j = 0; j < 40; ++j) row.push_back(number_at(j * 6 + i));
                     const std::vector<double> expected = softmax_of(row);
                     for (std::int64_t j = 0; j < 40; ++j) {
                       ASSERT_NEAR(all[static_cast<std::size_t>(i * 40 + j)],
                                   expected[static_cast<std::size_t>(j)], 1e-6)
                           << rung;
                     }
                   }
                 });
}

// A bias of one row for all, and a mask of one matrix for all heads.
TEST_P(SoftmaxTest, BiasAndMaskMayBeExpanded) {
  constexpr std::int64_t kColumns = 33;
  const Tensor x = tensor({2, 3, kColumns}, number_at);
  const Tensor bias = tensor({kColumns}, [](std::int64_t j) { return 0.125f * static_cast<float>(j % 5); });
  std::vector<std::uint8_t> kept(3 * kColumns);
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = i % 4 == 1 ? 0 : 7;
  const Tensor mask = Tensor::from(context(), view(kept, {3, kColumns})).value();
  Tensor y = tensor({2, 3, kColumns}, [](std::int64_t) { return kNan; });
  const SoftmaxArgs args{.x = x,
                         .bias = std::as_const(bias).view().expand({2, 3, kColumns}),
                         .mask = std::as_const(mask).view().expand({2, 3, kColumns}),
                         .y = y};
  for_every_rung(args, 2, [&](const std::string& rung) {
    const std::vector<float> all = y.to_vector<float>().value();
    for (std::int64_t r = 0; r < 6; ++r) {
      std::vector<float> row;
      for (std::int64_t j = 0; j < kColumns; ++j) {
        row.push_back(kept[static_cast<std::size_t>(r % 3 * kColumns + j)] == 0
                          ? -kInfinity
                          : number_at(r * kColumns + j) + 0.125f * static_cast<float>(j % 5));
      }
      const std::vector<double> expected = softmax_of(row);
      for (std::int64_t j = 0; j < kColumns; ++j) {
        ASSERT_NEAR(all[static_cast<std::size_t>(r * kColumns + j)], expected[static_cast<std::size_t>(j)],
                    1e-6)
            << rung << " " << r << " " << j;
      }
    }
  });
}

// A shift that no rounding sees changes nothing, bit for bit: differences come first.
TEST_P(SoftmaxTest, AShiftedRowHasTheSameResults) {
  const Tensor x = tensor({3, 700}, number_at);
  const Tensor shifted = tensor({3, 700}, [](std::int64_t i) { return number_at(i) + 65536.0f; });
  Tensor y = tensor({3, 700}, [](std::int64_t) { return kNan; });
  Tensor moved = tensor({3, 700}, [](std::int64_t) { return kNan; });
  for (const RungRow& rung : softmax_operator().rungs) {
    const SoftmaxArgs args{.x = x, .y = y};
    if (!unsupported_reason(rung, ArgsRef::of(args), context().properties()).empty()) continue;
    ASSERT_TRUE(run_rung(softmax_operator(), rung, context(), AnyArgs::of(args)).ok());
    ASSERT_TRUE(
        run_rung(softmax_operator(), rung, context(), AnyArgs::of(SoftmaxArgs{.x = shifted, .y = moved}))
            .ok());
    EXPECT_EQ(y.to_vector<float>().value(), moved.to_vector<float>().value()) << rung.id;
  }
}

TEST_P(SoftmaxTest, OutliersAndRowsOfMinusInfinity) {
  const std::vector<float> rows = {1e30f,      0,          0,      0, -kInfinity, -kInfinity,
                                   -kInfinity, -kInfinity, -1e30f, 3, 3,          -kInfinity};
  const Tensor x = tensor({3, 4}, [&](std::int64_t i) { return rows[static_cast<std::size_t>(i)]; });
  Tensor y = tensor({3, 4}, [](std::int64_t) { return kNan; });
  for_every_rung({.x = x, .y = y}, 2, [&](const std::string& rung) {
    EXPECT_EQ(y.to_vector<float>().value(), (std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0.5f, 0.5f, 0}))
        << rung;
  });
}

// The same in rows for the rungs that take no short ones.
TEST_P(SoftmaxTest, OutliersInLongRows) {
  for (const std::int64_t columns : {1500, 8192}) {
    const Tensor x =
        tensor({3, columns}, [&](std::int64_t i) { return i % columns == columns - 2 ? 1e30f : 0.0f; });
    Tensor y = tensor({3, columns}, [](std::int64_t) { return kNan; });
    for_every_rung({.x = x, .y = y}, 2, [&](const std::string& rung) {
      const std::vector<float> all = y.to_vector<float>().value();
      for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_EQ(all[i], static_cast<std::int64_t>(i) % columns == columns - 2 ? 1 : 0) << rung << " " << i;
    });
  }
}

TEST_P(SoftmaxTest, ANanStaysInItsRow) {
  expect_a_nan_stays_in_its_row(softmax_operator(),
                                [](const Tensor& x, Tensor& y) { return SoftmaxArgs{.x = x, .y = y}; });
}

TEST_P(SoftmaxTest, RefusesWhatItCannotServe) {
  const Tensor x = tensor({4, 6, 5, 8}, number_at);
  Tensor y = tensor({4, 6, 5, 8}, number_at);
  EXPECT_EQ(refusal({.x = x, .y = y.view().slice(0, 0, 3)}), "y must have the shape of x");
  EXPECT_NE(refusal({.x = x, .y = y, .temperature = -1}), "accepted");
  EXPECT_NE(refusal({.x = x, .y = y, .temperature = std::nan("")}), "accepted");
  EXPECT_NE(refusal({.x = x, .y = y, .temperature = 1e-40}).find("is 1e-40: below 1e-30 only 0 is served"),
            std::string::npos);
  const Tensor room = tensor({6, 9, 7, 8}, number_at);
  EXPECT_EQ(
      refusal({.x = std::as_const(room).view().slice(0, 0, 4).slice(1, 0, 6).slice(2, 0, 5), .y = y}),
      "the axes in front of the rows lie at more than two strides: call it for a part of the tensor at a time, or for a "
      "copy without gaps");
  EXPECT_EQ(refusal({.x = x, .mask = x, .y = y}), "mask must be u8");
  const Tensor line = tensor({100}, number_at);
  Tensor other = tensor({100}, number_at);
  EXPECT_EQ(refusal({.x = std::as_const(other).view().slice(0, 0, 50), .y = other.view().slice(0, 1, 51)}),
            "y must be x itself, with its shape and strides, or not overlap it");
}

// What choose() names, with the numbers of an H200.
TEST(SoftmaxTestPlan, ChoosesByLength) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.device = cuda_device(0);
  gpu.compute_capability = 90;
  gpu.multiprocessors = 132;
  const auto chosen = [&](std::int64_t m, std::int64_t n, std::int64_t skew = 0) {
    const auto at = [](std::int64_t bytes) {
      return reinterpret_cast<void*>((std::uintptr_t{1} << 40) + static_cast<std::uintptr_t>(bytes));
    };
    SoftmaxArgs args{.x = contiguous_view<void>(at(0), DType::f32, gpu.device, {m, n})};
    args.y = contiguous_view<void>(at(skew), DType::f32, gpu.device, {m, n});
    return std::string(softmax_operator().choose(ArgsRef::of(args), gpu));
  };
  EXPECT_EQ(chosen(32768, 1024), "vectorized");
  EXPECT_EQ(chosen(8192, 16384), "vectorized");
  EXPECT_EQ(chosen(4096, 32768), "cluster");
  EXPECT_EQ(chosen(1024, 131072), "cluster");
  EXPECT_EQ(chosen(8, 8192), "vectorized");
  EXPECT_EQ(chosen(8, 16384), "split_row");
  EXPECT_EQ(chosen(9, 16384), "cluster");
  EXPECT_EQ(chosen(200, 16384), "cluster");
  EXPECT_EQ(chosen(201, 16384), "vectorized");
  EXPECT_EQ(chosen(4, 65536), "split_row");
  EXPECT_EQ(chosen(12, 65536), "cluster");
  EXPECT_EQ(chosen(16, 131072), "split_row");
  EXPECT_EQ(chosen(16, 262144), "split_row");
  EXPECT_EQ(chosen(16, 262143), "split_row");  // rows that begin anywhere
  EXPECT_EQ(chosen(64, 131072), "cluster");
  EXPECT_EQ(chosen(18, 262144), "grid");
  EXPECT_EQ(chosen(300, 1 << 19), "split_row");  // longer than a cluster's registers: in rounds
  EXPECT_EQ(chosen(300, (1 << 19) + 1), "split_row");
  EXPECT_EQ(chosen(5000, 1 << 20), "split_row");
  EXPECT_EQ(chosen(2, 3 << 20), "online_block");  // longer than the registers of all multiprocessors
  EXPECT_EQ(chosen(4096, 1024, 4), "registers");  // x and y do not lie alike
  EXPECT_EQ(chosen(4096, 32768, 4), "online_block");
  gpu.compute_capability = 80;
  EXPECT_EQ(chosen(4096, 8192), "vectorized");
  EXPECT_EQ(chosen(4096, 32768), "split_row");
  EXPECT_EQ(chosen(16, 262144), "split_row");
}

// Blocks that are full: as many as a row needs; of few rows each gets as many as a cluster may have.
TEST(SoftmaxTestPlan, ClustersAreOfAsManyBlocksAsARowNeeds) {
  DeviceProperties gpu = *device_properties(kSim).value();
  gpu.multiprocessors = 132;
  struct Wanted {
    std::int64_t m, n;
    int threads, blocks;
    bool is_load_first;
  };
  for (const Wanted& wanted : {Wanted{3000, 20000, 128, 5, true}, Wanted{4096, 32768, 128, 8, true},
                               Wanted{4096, 32772, 256, 5, true}, Wanted{1024, 131072, 256, 16, true},
                               Wanted{1024, 131076, 512, 9, false}, Wanted{16, 32768, 128, 8, false},
                               Wanted{8, 32768, 256, 16, false}, Wanted{1, 262144, 512, 16, false},
                               Wanted{1, 262145, 0, 0, false}}) {
    SoftmaxArgs args{.x = contiguous_view<void>(reinterpret_cast<void*>(std::uintptr_t{1} << 40), DType::f32,
                                                kSim, {wanted.m, wanted.n})};
    args.y = contiguous_view<void>(reinterpret_cast<void*>(std::uintptr_t{1} << 41), DType::f32, kSim,
                                   {wanted.m, wanted.n});
    const auto rows = softmax_plan::geometry(args);
    const ClusterCut cut = softmax_plan::cluster_cut(args, rows, gpu);
    EXPECT_EQ(cut.blocks, wanted.blocks) << wanted.m << " x " << wanted.n;
    if (wanted.blocks == 0) continue;
    EXPECT_EQ(softmax_plan::kClusterShapes[static_cast<std::size_t>(cut.shape)].threads, wanted.threads)
        << wanted.m << " x " << wanted.n;
    EXPECT_GE(std::int64_t{cut.blocks} * cut.part * 4, wanted.n);
    EXPECT_EQ(softmax_plan::is_load_first(cut, rows, gpu), wanted.is_load_first)
        << wanted.m << " x " << wanted.n;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SoftmaxTest, ::testing::ValuesIn(usable_devices()), device_name);

}  // namespace
}  // namespace rooftile
