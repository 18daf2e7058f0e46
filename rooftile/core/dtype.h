// Element types, and the host-side 16- and 8-bit floats.
//
// Conversions from wider floats round to nearest even. f16 and bf16 overflow to infinity; f8e5m2 overflows to
// infinity and f8e4m3 (which has none) to NaN: IEEE-style conversion, not the saturating one. NaN stays NaN.
// Source: IEEE 754-2019; "FP8 Formats for Deep Learning", Micikevicius et al. 2022 (E4M3, E5M2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "rooftile/core/status.h"

namespace rooftile {

enum class DType : std::uint8_t { f64, f32, f16, bf16, f8e4m3, f8e5m2, i8, i16, i32, i64, u8, u16, u32, u64 };
inline constexpr int kDTypeCount = 14;

[[nodiscard]] std::size_t size_of(DType dtype);  // bytes of one element
[[nodiscard]] bool is_float(DType dtype);
[[nodiscard]] bool is_signed(DType dtype);                       // true of every float
[[nodiscard]] std::string_view to_string(DType dtype);           // "f32"
[[nodiscard]] Result<DType> parse_dtype(std::string_view text);  // the inverse; an error lists the names
[[nodiscard]] const std::array<DType, kDTypeCount>& all_dtypes();

// A set of element types, as an operator's tensor slots state it.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> dtypes) {
    for (DType dtype : dtypes) bits_ |= 1u << static_cast<unsigned>(dtype);
  }
  [[nodiscard]] constexpr bool contains(DType dtype) const {
    return (bits_ >> static_cast<unsigned>(dtype) & 1u) != 0;
  }
  [[nodiscard]] std::string to_string() const;  // "f32 i32"

 private:
  std::uint32_t bits_ = 0;
};

// Storage types. Bits only: arithmetic is done in float or double by whoever converts.
struct Float16 {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};
struct Float8E4M3 {
  std::uint8_t bits;
};
struct Float8E5M2 {
  std::uint8_t bits;
};

// From double, rounded once: never through float, which would round twice.
[[nodiscard]] Float16 to_float16(double value);
[[nodiscard]] BFloat16 to_bfloat16(double value);
[[nodiscard]] Float8E4M3 to_float8_e4m3(double value);
[[nodiscard]] Float8E5M2 to_float8_e5m2(double value);

// To float: exact for every bit pattern.
[[nodiscard]] float to_float(Float16 value);
[[nodiscard]] float to_float(BFloat16 value);
[[nodiscard]] float to_float(Float8E4M3 value);
[[nodiscard]] float to_float(Float8E5M2 value);

// One element of any dtype as a double (i64 and u64 beyond 2^53 round), and the inverse. Integers are stored
// as C++ converts a double that is in range; out of range clamps to the type's limits and NaN becomes 0.
[[nodiscard]] double load_as_double(const void* element, DType dtype);
void store_from_double(void* element, DType dtype, double value);

}  // namespace rooftile
