#include "rooftile/core/dtype.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace rooftile {
namespace {

struct Description {
  DType dtype;
  std::string_view name;
  std::size_t size;
  bool floating;
  bool with_sign;
};

constexpr std::array<Description, kDTypeCount> kDescriptions = {{
    {DType::f64, "f64", 8, true, true},
    {DType::f32, "f32", 4, true, true},
    {DType::f16, "f16", 2, true, true},
    {DType::bf16, "bf16", 2, true, true},
    {DType::f8e4m3, "f8e4m3", 1, true, true},
    {DType::f8e5m2, "f8e5m2", 1, true, true},
    {DType::i8, "i8", 1, false, true},
    {DType::i16, "i16", 2, false, true},
    {DType::i32, "i32", 4, false, true},
    {DType::i64, "i64", 8, false, true},
    {DType::u8, "u8", 1, false, false},
    {DType::u16, "u16", 2, false, false},
    {DType::u32, "u32", 4, false, false},
    {DType::u64, "u64", 8, false, false},
}};

constexpr bool in_enum_order() {
  for (std::size_t i = 0; i < kDescriptions.size(); ++i) {
    if (static_cast<std::size_t>(kDescriptions[i].dtype) != i) return false;
  }
  return true;
}
static_assert(in_enum_order(), "describe() indexes by the enumerator");

// A value outside the enum (a corrupted or foreign one) has size 0 and no name.
const Description& describe(DType dtype) {
  static constexpr Description kUnknown{DType::f32, "unknown dtype", 0, false, false};
  const auto index = static_cast<std::size_t>(dtype);
  return index < kDescriptions.size() ? kDescriptions[index] : kUnknown;
}

// A binary float of 1 + kExponentBits + kMantissaBits bits. Without infinities (E4M3) only the all-ones
// pattern is NaN and the rest of the top exponent is finite.
template <int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct SmallFloat {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;  // of the smallest normal number
  static constexpr std::uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr std::uint32_t kMantissa = (1u << kMantissaBits) - 1;
  static constexpr std::uint32_t kTopExponent = ((1u << kExponentBits) - 1) << kMantissaBits;
  static constexpr std::uint32_t kQuiet =
      kHasInfinity ? kTopExponent | 1u << (kMantissaBits - 1) : kTopExponent | kMantissa;
  static constexpr std::uint32_t kOverflow = kHasInfinity ? kTopExponent : kQuiet;

  static std::uint32_t encode(double value) {
    constexpr int kDoubleMantissaBits = 52;
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const std::uint32_t sign = bits >> 63 != 0 ? kSign : 0;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << kDoubleMantissaBits) - 1);
    const int biased = static_cast<int>(bits >> kDoubleMantissaBits & 0x7ff);
    if (biased == 0x7ff) {
      if (fraction == 0) return sign | kOverflow;
      // The top of the payload survives, so that a quiet NaN of this format comes back as it was.
      return sign | kQuiet |
             (static_cast<std::uint32_t>(fraction >> (kDoubleMantissaBits - kMantissaBits)) & kMantissa);
    }
    if (biased == 0) return sign;  // zero, or a double denormal: far below half of our smallest number
    const int exponent = biased - 1023;
    const std::uint64_t significand = fraction | std::uint64_t{1} << kDoubleMantissaBits;
    // The result in units of the last place, which are those of the smallest normal number for subnormals.
    const int scale = std::max(exponent, kMinExponent);
    const int shift = kDoubleMantissaBits - kMantissaBits + scale - exponent;
    if (shift > kDoubleMantissaBits + 1) return sign;  // below half a unit
    std::uint64_t units = significand >> shift;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    if (rest > half || (rest == half && (units & 1) != 0)) ++units;
    // The implicit bit of a normal number adds one to the exponent field, and so does a carry out of the
    // mantissa.
    const std::uint64_t magnitude =
        (static_cast<std::uint64_t>(scale - kMinExponent) << kMantissaBits) + units;
    return sign | static_cast<std::uint32_t>(std::min<std::uint64_t>(magnitude, kOverflow));
  }

  static float decode(std::uint32_t bits) {
    const float sign = (bits & kSign) != 0 ? -1.0f : 1.0f;
    const std::uint32_t magnitude = bits & (kSign - 1);
    const std::uint32_t mantissa = bits & kMantissa;
    const bool top = (bits & kTopExponent) == kTopExponent;
    if (kHasInfinity ? top && mantissa != 0 : magnitude == (kTopExponent | kMantissa)) {
      const std::uint32_t payload = mantissa << (23 - kMantissaBits);
      return std::bit_cast<float>(((bits & kSign) != 0 ? 0x80000000u : 0u) | 0x7fc00000u | payload);
    }
    if (kHasInfinity && top) return sign * std::numeric_limits<float>::infinity();
    const int exponent = static_cast<int>(magnitude >> kMantissaBits);
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), kMinExponent - kMantissaBits);
    return sign *
           std::ldexp(static_cast<float>(mantissa | (kMantissa + 1)), exponent - kBias - kMantissaBits);
  }
};

using F16 = SmallFloat<5, 10, true>;
using BF16 = SmallFloat<8, 7, true>;
using E4M3 = SmallFloat<4, 3, false>;
using E5M2 = SmallFloat<5, 2, true>;

template <class Integer>
Integer clamp_to(double value) {
  if (std::isnan(value)) return 0;
  // The first power of two beyond the type is exact in double; the type's maximum need not be.
  const double limit = std::ldexp(1.0, std::numeric_limits<Integer>::digits);
  if (value >= limit) return std::numeric_limits<Integer>::max();
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(value);
}

// Calls body(T()) for the C++ type of a dtype.
template <class Body>
auto with_type(DType dtype, Body body) {
  switch (dtype) {
    case DType::f64:
      return body(double());
    case DType::f32:
      return body(float());
    case DType::f16:
      return body(Float16());
    case DType::bf16:
      return body(BFloat16());
    case DType::f8e4m3:
      return body(Float8E4M3());
    case DType::f8e5m2:
      return body(Float8E5M2());
    case DType::i8:
      return body(std::int8_t());
    case DType::i16:
      return body(std::int16_t());
    case DType::i32:
      return body(std::int32_t());
    case DType::i64:
      return body(std::int64_t());
    case DType::u8:
      return body(std::uint8_t());
    case DType::u16:
      return body(std::uint16_t());
    case DType::u32:
      return body(std::uint32_t());
    case DType::u64:
      break;
  }
  return body(std::uint64_t());
}

template <class T>
T from_double(double value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else if constexpr (std::is_integral_v<T>)
    return clamp_to<T>(value);
  else if constexpr (std::is_same_v<T, Float16>)
    return to_float16(value);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(value);
  else if constexpr (std::is_same_v<T, Float8E4M3>)
    return to_float8_e4m3(value);
  else
    return to_float8_e5m2(value);
}

}  // namespace

std::size_t size_of(DType dtype) { return describe(dtype).size; }
bool is_float(DType dtype) { return describe(dtype).floating; }
bool is_signed(DType dtype) { return describe(dtype).with_sign; }
std::string_view to_string(DType dtype) { return describe(dtype).name; }

Result<DType> parse_dtype(std::string_view text) {
  std::string names;
  for (const Description& description : kDescriptions) {
    if (description.name == text) return description.dtype;
    names += (names.empty() ? "" : " ") + std::string(description.name);
  }
  return invalid_argument("unknown dtype \"" + std::string(text) + "\": use one of " + names);
}

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> dtypes = [] {
    std::vector<DType> list;
    for (const Description& description : kDescriptions) list.push_back(description.dtype);
    return list;
  }();
  return dtypes;
}

std::string DTypeSet::to_string() const {
  std::string text;
  for (const Description& description : kDescriptions) {
    if (!contains(description.dtype)) continue;
    if (!text.empty()) text += ' ';
    text += description.name;
  }
  return text;
}

Float16 to_float16(double value) { return {static_cast<std::uint16_t>(F16::encode(value))}; }
BFloat16 to_bfloat16(double value) { return {static_cast<std::uint16_t>(BF16::encode(value))}; }
Float8E4M3 to_float8_e4m3(double value) { return {static_cast<std::uint8_t>(E4M3::encode(value))}; }
Float8E5M2 to_float8_e5m2(double value) { return {static_cast<std::uint8_t>(E5M2::encode(value))}; }

float to_float(Float16 value) { return F16::decode(value.bits); }
float to_float(BFloat16 value) { return BF16::decode(value.bits); }
float to_float(Float8E4M3 value) { return E4M3::decode(value.bits); }
float to_float(Float8E5M2 value) { return E5M2::decode(value.bits); }

double load_as_double(const void* element, DType dtype) {
  return with_type(dtype, [element](auto value) -> double {
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_arithmetic_v<decltype(value)>)
      return static_cast<double>(value);
    else
      return static_cast<double>(to_float(value));
  });
}

void store_from_double(void* element, DType dtype, double value) {
  with_type(dtype, [element, value](auto tag) {
    const auto stored = from_double<decltype(tag)>(value);
    std::memcpy(element, &stored, sizeof stored);
  });
}

}  // namespace rooftile
