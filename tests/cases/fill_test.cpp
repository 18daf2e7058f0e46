#include "rooftile/cases/fill.h"

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

namespace rooftile {
namespace {

HostTensor filled(DType dtype, std::int64_t n, Fill fill, std::uint64_t seed = 1, std::uint64_t index = 0) {
  Result<HostTensor> tensor = HostTensor::create(dtype, Extents{n});
  EXPECT_TRUE(tensor.ok());
  fill_tensor(*tensor, fill, seed, index);
  return std::move(*tensor);
}

bool same(const HostTensor& a, const HostTensor& b, std::int64_t n) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(n) * size_of(a.dtype())) == 0;
}

TEST(Fill, DependsOnSeedAndTensorAlone) {
  for (const DType dtype : all_dtypes()) {
    const HostTensor a = filled(dtype, 200001, Fill::uniform);
    {
      const tbb::global_control one_thread(tbb::global_control::max_allowed_parallelism, 1);
      EXPECT_TRUE(same(a, filled(dtype, 200001, Fill::uniform), 200001)) << to_string(dtype);
    }
    EXPECT_TRUE(same(a, filled(dtype, 1003, Fill::uniform), 1003)) << to_string(dtype);
    EXPECT_FALSE(same(a, filled(dtype, 1003, Fill::uniform, 2), 1003)) << to_string(dtype);
    EXPECT_FALSE(same(a, filled(dtype, 1003, Fill::uniform, 1, 1), 1003)) << to_string(dtype);
  }
}

TEST(Fill, UniformStaysInRangeAndSpreads) {
  for (const DType dtype : all_dtypes()) {
    const HostTensor x = filled(dtype, 20000, Fill::uniform);
    double low = 1e300;
    double high = -1e300;
    double sum = 0;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      low = std::min(low, x.at(i));
      high = std::max(high, x.at(i));
      sum += x.at(i);
    }
    const double mean = sum / static_cast<double>(x.numel());
    if (is_float(dtype)) {
      EXPECT_GE(low, -1.0);
      EXPECT_LE(high, 1.0);
      EXPECT_NEAR(mean, 0.0, 0.02) << to_string(dtype);
    } else if (size_of(dtype) == 1) {
      EXPECT_EQ(high - low, 255.0) << to_string(dtype);
    } else {
      EXPECT_EQ(low, is_signed(dtype) ? -1000.0 : 0.0) << to_string(dtype);
      EXPECT_EQ(high, 1000.0) << to_string(dtype);
    }
  }
}

TEST(Fill, SmallIntegersAreSmallIntegersInEveryDtype) {
  for (const DType dtype : all_dtypes()) {
    const HostTensor x = filled(dtype, 5000, Fill::small_integers);
    std::set<double> seen;
    for (std::int64_t i = 0; i < x.numel(); ++i) seen.insert(x.at(i));
    EXPECT_EQ(*seen.begin(), is_signed(dtype) ? -8.0 : 0.0) << to_string(dtype);
    EXPECT_EQ(*seen.rbegin(), 8.0) << to_string(dtype);
    EXPECT_EQ(seen.size(), is_signed(dtype) ? 17u : 9u) << to_string(dtype);
  }
}

TEST(Fill, NanAtLastIsOneNan) {
  for (const DType dtype : all_dtypes()) {
    const HostTensor x = filled(dtype, 1001, Fill::nan_at_last);
    for (std::int64_t i = 0; i + 1 < x.numel(); ++i) ASSERT_FALSE(std::isnan(x.at(i)));
    EXPECT_EQ(std::isnan(x.at(1000)), is_float(dtype)) << to_string(dtype);
  }
  EXPECT_EQ(filled(DType::f32, 0, Fill::nan_at_last).numel(), 0);
}

TEST(Fill, NanInsideStandsInTheMiddleAndElsewhere) {
  for (const DType dtype : all_dtypes()) {
    const HostTensor x = filled(dtype, 1001, Fill::nan_inside);
    int nans = 0;
    for (std::int64_t i = 0; i < x.numel(); ++i) nans += std::isnan(x.at(i)) ? 1 : 0;
    EXPECT_EQ(std::isnan(x.at(500)), is_float(dtype)) << to_string(dtype);
    EXPECT_EQ(nans > 5 && nans < 50, is_float(dtype)) << to_string(dtype) << " " << nans;
    EXPECT_EQ(std::isnan(filled(dtype, 1, Fill::nan_inside).at(0)), is_float(dtype));
  }
}

TEST(Fill, RisingAndFallingSpanTheRange) {
  for (const DType dtype : all_dtypes()) {
    const HostTensor up = filled(dtype, 1001, Fill::rising);
    const HostTensor down = filled(dtype, 1001, Fill::falling);
    const bool byte = size_of(dtype) == 1;
    const double low = is_float(dtype)    ? -1
                       : byte             ? (is_signed(dtype) ? -128 : 0)
                       : is_signed(dtype) ? -1000
                                          : 0;
    const double high = is_float(dtype) ? 1 : byte ? (is_signed(dtype) ? 127 : 255) : 1000;
    EXPECT_EQ(up.at(0), low) << to_string(dtype);
    EXPECT_EQ(up.at(1000), high) << to_string(dtype);
    for (std::int64_t i = 0; i < 1001; ++i) {
      ASSERT_LE(up.at(std::max<std::int64_t>(i - 1, 0)), up.at(i)) << to_string(dtype);
      ASSERT_EQ(up.at(i), down.at(1000 - i)) << to_string(dtype);
    }
    EXPECT_EQ(filled(dtype, 1, Fill::falling).at(0), low);
  }
}

TEST(Fill, SpecialHoldsEverySpecialValue) {
  for (const DType dtype : all_dtypes()) {
    if (!is_float(dtype)) continue;
    const HostTensor x = filled(dtype, 20000, Fill::special);
    int infinities = 0;
    int negative_zeros = 0;
    int tiny = 0;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const double value = x.at(i);
      ASSERT_FALSE(std::isnan(value)) << to_string(dtype);
      infinities += std::isinf(value) ? 1 : 0;
      negative_zeros += value == 0.0 && std::signbit(value) ? 1 : 0;
      tiny += value != 0.0 && std::abs(value) <= 0x1p-9 ? 1 : 0;
    }
    EXPECT_EQ(infinities > 100, dtype != DType::f8e4m3) << to_string(dtype);
    EXPECT_GT(negative_zeros, 50) << to_string(dtype);
    EXPECT_GT(tiny, 100) << to_string(dtype);
  }
}

TEST(Fill, InfInsideHasBothInfinities) {
  const HostTensor x = filled(DType::bf16, 5001, Fill::inf_inside);
  EXPECT_TRUE(std::isinf(x.at(2500)));
  EXPECT_TRUE(std::isinf(x.at(0)) && x.at(0) < 0)
      << "a minimum that starts from the lowest finite value shows";
  std::set<double> infinities;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    ASSERT_FALSE(std::isnan(x.at(i)));
    if (std::isinf(x.at(i))) infinities.insert(x.at(i));
  }
  EXPECT_EQ(infinities.size(), 2u);
}

// An element that nobody else equals: a kernel that leaves it out gives another maximum, or minimum.
TEST(Fill, ExtremaStandAloneAtTheirPlaces) {
  for (const DType dtype : all_dtypes()) {
    for (const auto& [fill, top, bottom] : {std::tuple{Fill::one_maximum, 1000, 0},
                                            {Fill::tile_maximum, 768, 767},
                                            {Fill::tile_minimum, 767, 768}}) {
      const HostTensor x = filled(dtype, 1001, fill);
      for (std::int64_t i = 0; i < x.numel(); ++i) {
        ASSERT_TRUE(i == top || x.at(i) < x.at(top)) << to_string(dtype) << " " << i;
        ASSERT_TRUE(i == bottom || x.at(i) > x.at(bottom)) << to_string(dtype) << " " << i;
      }
    }
    EXPECT_EQ(filled(dtype, 1, Fill::one_maximum).numel(), 1);
    EXPECT_GT(filled(dtype, 2, Fill::tile_maximum).at(0), filled(dtype, 2, Fill::tile_maximum).at(1));
  }
}

TEST(Fill, NormalHasItsMomentsAndTails) {
  const HostTensor x = filled(DType::f64, 100000, Fill::normal);
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    sum += x.at(i);
    squares += x.at(i) * x.at(i);
    beyond_two += std::abs(x.at(i)) > 2 ? 1 : 0;
  }
  const auto n = static_cast<double>(x.numel());
  EXPECT_NEAR(sum / n, 0.0, 0.015);
  EXPECT_NEAR(squares / n, 1.0, 0.02);
  EXPECT_NEAR(beyond_two / n, 0.0455, 0.004);
  const HostTensor bytes = filled(DType::i8, 10000, Fill::normal);
  int middle = 0;
  for (std::int64_t i = 0; i < bytes.numel(); ++i) middle += std::abs(bytes.at(i)) <= 15 ? 1 : 0;
  EXPECT_NEAR(middle / 10000.0, 0.68, 0.05);
}

TEST(Fill, LogUniformHasAsManyInEachPowerOfTwo) {
  const HostTensor x = filled(DType::f32, 32000, Fill::log_uniform);
  std::array<int, 16> counts{};
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    const double magnitude = std::abs(x.at(i));
    ASSERT_GE(magnitude, 0x1p-8);
    ASSERT_LE(magnitude, 0x1p8);
    const int power = std::min(std::ilogb(magnitude), 7) + 8;
    ++counts[static_cast<std::size_t>(power)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 2000, 250);
  std::set<int> powers;
  const HostTensor integers = filled(DType::u64, 5000, Fill::log_uniform);
  for (std::int64_t i = 0; i < integers.numel(); ++i) powers.insert(std::ilogb(integers.at(i)));
  EXPECT_GE(powers.size(), 32u);
}

TEST(Fill, AnyBitsAreFiniteAndEverywhere) {
  for (const DType dtype : all_dtypes()) {
    const HostTensor x = filled(dtype, 20000, Fill::any_bits);
    std::set<double> seen;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      ASSERT_TRUE(std::isfinite(x.at(i))) << to_string(dtype) << " " << i;
      seen.insert(x.at(i));
    }
    EXPECT_GT(seen.size(), size_of(dtype) == 1 ? 200u : 10000u) << to_string(dtype);
    if (is_float(dtype)) {
      EXPECT_GT(*seen.rbegin(), 200.0) << to_string(dtype);
    }
  }
}

}  // namespace
}  // namespace rooftile
