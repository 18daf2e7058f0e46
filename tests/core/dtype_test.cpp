#include "rooftile/core/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace rooftile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(DType, NamesAndSizesAgree) {
  EXPECT_EQ(all_dtypes().size(), static_cast<std::size_t>(kDTypeCount));
  for (const DType dtype : all_dtypes()) {
    const Result<DType> parsed = parse_dtype(to_string(dtype));
    ASSERT_TRUE(parsed.ok()) << to_string(dtype);
    EXPECT_EQ(*parsed, dtype);
    // The digits of a name are its bits: f8e4m3 has 8.
    const std::string name(to_string(dtype));
    const std::string digits = name.substr(name.find_first_of("0123456789"));
    EXPECT_EQ(size_of(dtype) * 8, std::stoul(digits)) << name;
    EXPECT_EQ(is_float(dtype), name.find('f') != std::string::npos) << name;
    EXPECT_EQ(is_signed(dtype), name[0] != 'u') << name;
  }
  EXPECT_EQ(parse_dtype("float").status().code(), StatusCode::invalid_argument);
  EXPECT_NE(parse_dtype("float").status().rule().find("bf16"), std::string::npos);
  EXPECT_EQ(size_of(static_cast<DType>(200)), 0u);
}

TEST(DType, SetsListTheirMembers) {
  constexpr DTypeSet kSet = {DType::i32, DType::f32};
  EXPECT_TRUE(kSet.contains(DType::f32));
  EXPECT_FALSE(kSet.contains(DType::u64));
  EXPECT_EQ(kSet.to_string(), "f32 i32");
  EXPECT_EQ(DTypeSet().to_string(), "");
}

// A format as the tests see it: bits in, value out, by arithmetic that shares nothing with the library.
template <class T>
struct Format;
template <>
struct Format<Float16> {
  static constexpr int kBits = 16, kMantissa = 10, kBias = 15;
  static constexpr unsigned kLargest = 0x7bff;
  static Float16 encode(double value) { return to_float16(value); }
};
template <>
struct Format<BFloat16> {
  static constexpr int kBits = 16, kMantissa = 7, kBias = 127;
  static constexpr unsigned kLargest = 0x7f7f;
  static BFloat16 encode(double value) { return to_bfloat16(value); }
};
template <>
struct Format<Float8E4M3> {
  static constexpr int kBits = 8, kMantissa = 3, kBias = 7;
  static constexpr unsigned kLargest = 0x7e;
  static Float8E4M3 encode(double value) { return to_float8_e4m3(value); }
};
template <>
struct Format<Float8E5M2> {
  static constexpr int kBits = 8, kMantissa = 2, kBias = 15;
  static constexpr unsigned kLargest = 0x7b;
  static Float8E5M2 encode(double value) { return to_float8_e5m2(value); }
};

template <class T>
class SmallFloats : public testing::Test {
 protected:
  using Traits = Format<T>;
  static constexpr unsigned kSign = 1u << (Traits::kBits - 1);
  static T from_bits(unsigned bits) { return T{static_cast<decltype(T::bits)>(bits)}; }
  static unsigned bits_of(double value) { return Traits::encode(value).bits; }
  static bool is_nan(unsigned bits) {
    if (std::is_same_v<T, Float8E4M3>) return (bits & 0x7f) == 0x7f;
    return (bits & (kSign - 1)) > Traits::kLargest + 1;
  }
  static double value_of(unsigned magnitude) {
    const unsigned exponent = magnitude >> Traits::kMantissa;
    const double fraction = (magnitude & ((1u << Traits::kMantissa) - 1)) / std::pow(2.0, Traits::kMantissa);
    if (exponent == 0) return fraction * std::pow(2.0, 1 - Traits::kBias);
    return (1.0 + fraction) * std::pow(2.0, static_cast<int>(exponent) - Traits::kBias);
  }
};
using SmallFloatTypes = testing::Types<Float16, BFloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(SmallFloats, SmallFloatTypes);

TYPED_TEST(SmallFloats, EveryPatternDecodesAndRoundTrips) {
  using F = Format<TypeParam>;
  for (unsigned bits = 0; bits < 1u << F::kBits; ++bits) {
    const float value = to_float(this->from_bits(bits));
    if (this->is_nan(bits)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(this->is_nan(this->bits_of(value))) << bits;
      ASSERT_EQ(this->bits_of(value) & this->kSign, bits & this->kSign) << bits;
      continue;
    }
    const unsigned magnitude = bits & (this->kSign - 1);
    const double expected = magnitude > F::kLargest ? kInfinity : this->value_of(magnitude);
    ASSERT_EQ(std::abs(static_cast<double>(value)), expected) << bits;
    ASSERT_EQ(std::signbit(value), (bits & this->kSign) != 0) << bits;
    ASSERT_EQ(this->bits_of(value), bits);
  }
}

TYPED_TEST(SmallFloats, EveryMidpointRoundsToEven) {
  using F = Format<TypeParam>;
  for (unsigned low = 0; low < F::kLargest; ++low) {
    const double a = this->value_of(low);
    const double b = this->value_of(low + 1);
    const double midpoint = a + (b - a) / 2;  // exact: one bit more than the format has
    const unsigned even = low % 2 == 0 ? low : low + 1;
    for (const double sign : {1.0, -1.0}) {
      const unsigned sign_bit = sign < 0 ? this->kSign : 0;
      ASSERT_EQ(this->bits_of(sign * midpoint), even | sign_bit) << low;
      ASSERT_EQ(this->bits_of(sign * std::nextafter(midpoint, 0.0)), low | sign_bit) << low;
      ASSERT_EQ(this->bits_of(sign * std::nextafter(midpoint, kInfinity)), (low + 1) | sign_bit) << low;
    }
  }
}

TYPED_TEST(SmallFloats, OverflowsAsItsFormatSays) {
  using F = Format<TypeParam>;
  const double largest = this->value_of(F::kLargest);
  const double limit = largest + (largest - this->value_of(F::kLargest - 1)) / 2;
  const auto overflowed = [&](double value) {
    const unsigned bits = this->bits_of(value);
    const bool sign_kept = ((bits & this->kSign) != 0) == std::signbit(value);
    if (std::is_same_v<TypeParam, Float8E4M3>) return sign_kept && this->is_nan(bits);
    return sign_kept && (bits & (this->kSign - 1)) == F::kLargest + 1;
  };
  EXPECT_EQ(this->bits_of(std::nextafter(limit, 0.0)), F::kLargest);
  // The tie goes to even: E4M3's largest is even, the others' is odd.
  EXPECT_EQ(overflowed(limit), F::kLargest % 2 == 1);
  for (const double value : {std::nextafter(limit, kInfinity), 2 * limit, 1e300, kInfinity}) {
    EXPECT_TRUE(overflowed(value)) << value;
    EXPECT_TRUE(overflowed(-value)) << value;
  }
}

TYPED_TEST(SmallFloats, TinyValuesBecomeSignedZeros) {
  const double smallest = this->value_of(1);
  EXPECT_EQ(this->bits_of(0.0), 0u);
  EXPECT_EQ(this->bits_of(-0.0), this->kSign);
  EXPECT_EQ(this->bits_of(smallest / 4), 0u);
  EXPECT_EQ(this->bits_of(-smallest / 4), this->kSign);
  EXPECT_EQ(this->bits_of(std::numeric_limits<double>::denorm_min()), 0u);
  EXPECT_EQ(this->bits_of(-std::numeric_limits<double>::min()), this->kSign);
}

TYPED_TEST(SmallFloats, NanStaysNanAndKeepsItsSign) {
  EXPECT_TRUE(this->is_nan(this->bits_of(kNan)));
  EXPECT_EQ(this->bits_of(std::copysign(kNan, 1.0)) & this->kSign, 0u);
  EXPECT_EQ(this->bits_of(std::copysign(kNan, -1.0)) & this->kSign, this->kSign);
  // Payload bits that a cut would turn into infinity.
  EXPECT_TRUE(this->is_nan(this->bits_of(std::bit_cast<double>(0x7ff0000000000001u))));
}

TEST(DTypeConversion, KnownValues) {
  EXPECT_EQ(to_float16(1.0).bits, 0x3c00);
  EXPECT_EQ(to_float16(65504.0).bits, 0x7bff);
  EXPECT_EQ(to_float16(0x1p-24).bits, 0x0001);
  EXPECT_EQ(to_bfloat16(-1.5).bits, 0xbfc0);
  EXPECT_EQ(to_float8_e4m3(448.0).bits, 0x7e);
  EXPECT_EQ(to_float8_e4m3(464.0).bits, 0x7e);
  EXPECT_EQ(to_float8_e5m2(57344.0).bits, 0x7b);
  for (unsigned bits = 0; bits < 0x7f80; ++bits) {
    ASSERT_EQ(to_float(BFloat16{static_cast<std::uint16_t>(bits)}), std::bit_cast<float>(bits << 16));
  }
}

TEST(DTypeConversion, RoundsOnceFromDouble) {
  // Through float the last bit is lost and the tie would go down to 1.
  EXPECT_EQ(to_float16(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(to_bfloat16(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
}

double stored(DType dtype, double value) {
  alignas(8) std::byte element[8];
  store_from_double(element, dtype, value);
  return load_as_double(element, dtype);
}

TEST(DTypeConversion, StoredElementsComeBack) {
  for (const DType dtype : all_dtypes()) {
    for (const double value : {0.0, 1.0, 2.0, 7.0})
      EXPECT_EQ(stored(dtype, value), value) << to_string(dtype);
    if (is_signed(dtype)) {
      EXPECT_EQ(stored(dtype, -3.0), -3.0) << to_string(dtype);
    }
    if (is_float(dtype)) {
      EXPECT_TRUE(std::isnan(stored(dtype, kNan))) << to_string(dtype);
      EXPECT_EQ(stored(dtype, 0.5), 0.5) << to_string(dtype);
    }
  }
}

TEST(DTypeConversion, IntegersTruncateClampAndTakeNanAsZero) {
  EXPECT_EQ(stored(DType::i32, 1.9), 1.0);
  EXPECT_EQ(stored(DType::i32, -1.9), -1.0);
  EXPECT_EQ(stored(DType::u8, 255.9), 255.0);
  EXPECT_EQ(stored(DType::u8, 256.0), 255.0);
  EXPECT_EQ(stored(DType::u8, -0.5), 0.0);
  EXPECT_EQ(stored(DType::u8, -5.0), 0.0);
  EXPECT_EQ(stored(DType::i8, -128.9), -128.0);
  EXPECT_EQ(stored(DType::i8, 1e300), 127.0);
  EXPECT_EQ(stored(DType::i32, kInfinity), 2147483647.0);
  EXPECT_EQ(stored(DType::i32, -kInfinity), -2147483648.0);
  for (const DType dtype : all_dtypes()) {
    if (!is_float(dtype)) {
      EXPECT_EQ(stored(dtype, kNan), 0.0) << to_string(dtype);
    }
  }
  std::int64_t i64 = 0;
  store_from_double(&i64, DType::i64, 0x1p63);
  EXPECT_EQ(i64, std::numeric_limits<std::int64_t>::max());
  store_from_double(&i64, DType::i64, -0x1p63);
  EXPECT_EQ(i64, std::numeric_limits<std::int64_t>::min());
  std::uint64_t u64 = 0;
  store_from_double(&u64, DType::u64, 0x1p63);
  EXPECT_EQ(u64, std::uint64_t{1} << 63);
  store_from_double(&u64, DType::u64, 0x1p64);
  EXPECT_EQ(u64, std::numeric_limits<std::uint64_t>::max());
}

TEST(DTypeConversion, ElementsNeedNoAlignment) {
  std::byte bytes[9] = {};
  store_from_double(bytes + 1, DType::f64, 0.25);
  EXPECT_EQ(load_as_double(bytes + 1, DType::f64), 0.25);
}

}  // namespace
}  // namespace rooftile
