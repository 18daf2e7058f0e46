#include "rooftile/core/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "rooftile/core/small_float.h"

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

// Exact: every value of the small formats is a float. Its bits in the places of a float's are its value by the wrong bias, a
// subnormal one's, too: a power of two makes it right.
template <class Format>
float decode(std::uint32_t bits) {
  const std::uint32_t sign = (bits & Format::kSign) != 0 ? 0x80000000u : 0u;
  const std::uint32_t magnitude = bits & (Format::kSign - 1);
  const std::uint32_t mantissa = bits & Format::kMantissa;
  const bool top = (bits & Format::kTopExponent) == Format::kTopExponent;
  constexpr int kShift = 23 - Format::kFractionBits;
  if (Format::kInfinities ? top && mantissa != 0 : magnitude == (Format::kTopExponent | Format::kMantissa))
    return std::bit_cast<float>(sign | 0x7fc00000u | mantissa << kShift);
  if (Format::kInfinities && top) return std::bit_cast<float>(sign | 0x7f800000u);
  constexpr auto kFactor = std::bit_cast<float>(static_cast<std::uint32_t>(254 - Format::kBias) << 23);
  return std::bit_cast<float>(
      sign | std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude << kShift) * kFactor));
}

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

const std::array<DType, kDTypeCount>& all_dtypes() {
  static constexpr std::array<DType, kDTypeCount> dtypes = [] {
    std::array<DType, kDTypeCount> list{};
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = kDescriptions[i].dtype;
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

float to_float(Float16 value) { return decode<F16>(value.bits); }
float to_float(BFloat16 value) { return decode<BF16>(value.bits); }
float to_float(Float8E4M3 value) { return decode<E4M3>(value.bits); }
float to_float(Float8E5M2 value) { return decode<E5M2>(value.bits); }

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
