// Which C++ types are elements of a tensor, and with which dtype: what view() deduces.
//
// Integers count by size and sign, so that long long has a dtype whichever type std::int64_t is. bool and the character
// types have none. A type of one's own: specialise ElementType, as Float16 does. CUDA's: device/types.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "rooftile/core/dtype.h"

namespace rooftile {

template <class T>
struct ElementType {};

template <class T>
concept Element = requires {
  { ElementType<std::remove_cv_t<T>>::dtype } -> std::convertible_to<DType>;
};

template <>
struct ElementType<double> {
  static constexpr DType dtype = DType::f64;
};
template <>
struct ElementType<float> {
  static constexpr DType dtype = DType::f32;
};
template <>
struct ElementType<Float16> {
  static constexpr DType dtype = DType::f16;
};
template <>
struct ElementType<BFloat16> {
  static constexpr DType dtype = DType::bf16;
};
template <>
struct ElementType<Float8E4M3> {
  static constexpr DType dtype = DType::f8e4m3;
};
template <>
struct ElementType<Float8E5M2> {
  static constexpr DType dtype = DType::f8e5m2;
};

namespace view_detail {
template <class T>
concept Number =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;
}  // namespace view_detail

template <view_detail::Number T>
struct ElementType<T> {
  static_assert(sizeof(T) <= 8, "no dtype has more than 8 bytes");
  static constexpr DType dtype = sizeof(T) == 1   ? (std::signed_integral<T> ? DType::i8 : DType::u8)
                                 : sizeof(T) == 2 ? (std::signed_integral<T> ? DType::i16 : DType::u16)
                                 : sizeof(T) == 4 ? (std::signed_integral<T> ? DType::i32 : DType::u32)
                                                  : (std::signed_integral<T> ? DType::i64 : DType::u64);
};

// The dtype of a C++ type, const or not: dtype_of<float> == DType::f32.
template <Element T>
inline constexpr DType dtype_of = ElementType<std::remove_cv_t<T>>::dtype;

}  // namespace rooftile
