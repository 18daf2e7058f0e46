// 8-bit floats: every code both ways, and every place where rounding turns. Vectors in unions and braces.
#include <algorithm>
#include <cmath>
#include <limits>

#include "rooftile/core/dtype.h"
#include "tests/sim/arithmetic.h"
#include "tests/sim/sim_test.h"

namespace rooftile::sim_testing {
namespace {

using namespace sim::sim_tests;

struct Format {
  const char* name;
  bool e5m2;
  int fraction_bits;
  int bias;
  unsigned largest;   // code of the largest finite number
  unsigned infinity;  // what overflows to where nothing saturates
};

void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

const Format kFormats[] = {{"e4m3", false, 3, 7, 0x7e, 0x7f}, {"e5m2", true, 2, 15, 0x7b, 0x7c}};

// By the definition of the format; of finite codes.
float value_of(const Format& format, unsigned code) {
  const unsigned fraction = code & ((1u << format.fraction_bits) - 1);
  const int exponent = static_cast<int>((code & 0x7fu) >> format.fraction_bits);
  const auto mantissa = static_cast<float>(exponent == 0 ? fraction : fraction | 1u << format.fraction_bits);
  const float magnitude = std::ldexp(mantissa, std::max(exponent, 1) - format.bias - format.fraction_bits);
  return (code & 0x80u) != 0 ? -magnitude : magnitude;
}

class Fp8 : public ::testing::TestWithParam<Format> {
 protected:
  void SetUp() override { use(kSchedules[0]); }

  static std::vector<std::uint8_t> encode(bool saturate, const std::vector<float>& values) {
    std::vector<std::uint8_t> codes(values.size());
    EXPECT_TRUE(is_ok(run_fp8_encode(kStream, GetParam().e5m2, saturate, static_cast<unsigned>(values.size()),
                                     values.data(), codes.data())));
    return codes;
  }
};

TEST_P(Fp8, EveryCodeDecodesByDefinition) {
  const Format& format = GetParam();
  std::vector<std::uint16_t> half(256);
  std::vector<float> wide(256);
  ASSERT_TRUE(is_ok(run_fp8_decode(kStream, format.e5m2, half.data(), wide.data())));
  for (unsigned code = 0; code < 256; ++code) {
    const unsigned magnitude = code & 0x7fu;
    if (magnitude <= format.largest) {
      EXPECT_EQ(wide[code], value_of(format, code)) << code;
      EXPECT_EQ(std::signbit(wide[code]), code >= 0x80) << code;
      EXPECT_EQ(half[code], to_float16(value_of(format, code)).bits) << code;
    } else if (format.e5m2 && magnitude == format.infinity) {
      EXPECT_EQ(half[code], code == magnitude ? 0x7c00 : 0xfc00);
    } else {
      EXPECT_TRUE(std::isnan(wide[code])) << code;
      EXPECT_EQ(half[code], 0x7fff) << code;
    }
  }
}

// Between two neighbours: both themselves, what is just below and just above the middle, and the middle,
// which goes to the even one.
TEST_P(Fp8, EveryBoundaryRoundsToNearestEven) {
  const Format& format = GetParam();
  std::vector<float> values;
  std::vector<unsigned> expected;
  const auto add = [&](float value, unsigned code) {
    for (const unsigned sign : {0u, 0x80u}) {
      values.push_back(sign != 0 ? -value : value);
      expected.push_back(code | sign);
    }
  };
  for (unsigned code = 0; code < format.largest; ++code) {
    const float low = value_of(format, code);
    const float high = value_of(format, code + 1);
    const float middle = low + (high - low) / 2;
    add(low, code);
    add(middle, code % 2 == 0 ? code : code + 1);
    add(std::nextafter(middle, 0.0f), code);
    add(std::nextafter(middle, high), code + 1);
  }
  add(value_of(format, format.largest), format.largest);
  for (const bool saturate : {false, true}) {
    const std::vector<std::uint8_t> codes = encode(saturate, values);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(codes[i], expected[i]) << values[i];
  }
}

TEST_P(Fp8, WhatIsTooLargeSaturatesOrDoesNot) {
  const Format& format = GetParam();
  const float largest = value_of(format, format.largest);
  const float step = largest - value_of(format, format.largest - 1);
  const std::vector<float> values{largest + 0.75f * step, 1e30f, INFINITY, -INFINITY, NAN, -NAN, 1e-30f};
  const std::vector<std::uint8_t> saturated = encode(true, values);
  const std::vector<std::uint8_t> plain = encode(false, values);
  const auto top = static_cast<std::uint8_t>(format.largest);
  const auto over = static_cast<std::uint8_t>(format.infinity);
  const auto minus = [](std::uint8_t code) { return static_cast<std::uint8_t>(code | 0x80u); };
  EXPECT_EQ(saturated, (std::vector<std::uint8_t>{top, top, top, minus(top), 0x7f, 0x7f, 0}));
  EXPECT_EQ(plain, (std::vector<std::uint8_t>{over, over, over, minus(over), 0x7f, 0x7f, 0}));
}

INSTANTIATE_TEST_SUITE_P(Formats, Fp8, ::testing::ValuesIn(kFormats),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(Fp8Types, ConvertFromAndToTheOthers) {
  use(kSchedules[0]);
  const float in[] = {1.0f, 1000.0f};
  Fp8Shapes n{};
  ASSERT_TRUE(is_ok(run_fp8_shapes(kStream, in, &n)));
  EXPECT_EQ(n.pair, 0xc038u);
  EXPECT_EQ(n.quad, 0x64c2403cu);
  EXPECT_EQ(std::vector<float>(n.quad_back, n.quad_back + 4), (std::vector<float>{1, 2, -3, 1024}));
  EXPECT_EQ(n.from_half, 0x7eu);
  EXPECT_EQ(n.from_double, 0x7bu);
  EXPECT_EQ(n.from_bfloat16, 0x7fu);
  EXPECT_EQ(n.from_int, 0x58u);  // 17 is half way from 16 to 18
  EXPECT_EQ(n.pair_of_halves, 0x44bcu);
  EXPECT_EQ(n.to_int, -3);
  EXPECT_EQ(n.to_uchar, 0);
  EXPECT_FALSE(n.is_true);
}

TEST(VectorTypes, StandInUnionsAndBraces) {
  use(kSchedules[0]);
  alignas(16) const float in[] = {10, 11, 12, 13};
  Vectors n{};
  ASSERT_TRUE(is_ok(run_vectors(kStream, in, &n)));
  const auto four = [](const float* values) { return std::vector<float>(values, values + 4); };
  EXPECT_EQ(four(n.from_union), (std::vector<float>{13, 12, 11, 10}));
  EXPECT_EQ(four(n.to_union), (std::vector<float>{20, 22, 24, 26}));
  EXPECT_EQ(four(n.braces_one), (std::vector<float>{1, 0, 0, 0}));
  EXPECT_EQ(four(n.braces_three), (std::vector<float>{11, 12, 13, 0}));
  EXPECT_EQ(four(n.braces_none), (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(n.braces_all[0], 11);
  EXPECT_EQ(n.braces_all[1], 12);
  EXPECT_EQ(n.int2_one[0], 7);
  EXPECT_EQ(n.int2_one[1], 0);
}

}  // namespace
}  // namespace rooftile::sim_testing
