// One element of an input from its random words: the same bits on host, device and simulated SM.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/core/case.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/philox.h"
#include "rooftile/core/small_float.h"

namespace rooftile::lab {

// f64 takes two words per element: 24-bit values would add up exactly and hide a wrong accumulation.
template <class T>
inline constexpr int kWordsPerElement = std::is_same_v<T, double> ? 2 : 1;
template <class T>
inline constexpr int kElementsPerGroup = 4 / kWordsPerElement<T>;

// The format of a 16- or 8-bit float.
template <class T>
struct SmallFormat;
template <>
struct SmallFormat<Float16> {
  using Bits = F16;
  static constexpr double kLargest = 65504.0;
  static constexpr double kSmallestDenormal = 0x1p-24;
};
template <>
struct SmallFormat<BFloat16> {
  using Bits = BF16;
  static constexpr double kLargest = 0x1.FEp127;
  static constexpr double kSmallestDenormal = 0x1p-133;
};
template <>
struct SmallFormat<Float8E4M3> {
  using Bits = E4M3;
  static constexpr double kLargest = 448.0;
  static constexpr double kSmallestDenormal = 0x1p-9;
};
template <>
struct SmallFormat<Float8E5M2> {
  using Bits = E5M2;
  static constexpr double kLargest = 57344.0;
  static constexpr double kSmallestDenormal = 0x1p-16;
};

template <class T>
ROOFTILE_HOST_DEVICE constexpr double largest_of() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::max();
  else
    return SmallFormat<T>::kLargest;
}
template <class T>
ROOFTILE_HOST_DEVICE constexpr double smallest_denormal_of() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::denorm_min();
  else
    return SmallFormat<T>::kSmallestDenormal;
}
template <class T>
ROOFTILE_HOST_DEVICE T round_to(double value) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    T rounded;
    rounded.bits = static_cast<decltype(rounded.bits)>(SmallFormat<T>::Bits::encode(value));
    return rounded;
  }
}
// Not by conversion: a GPU gives every NaN the same bits.
template <class T>
ROOFTILE_HOST_DEVICE T nan_of() {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
    return kNan;
  } else {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    return round_to<T>(kNan);
  }
}

// A uniform integer of [low, high], by multiplication: the bias is below (high - low) / 2^32.
ROOFTILE_HOST_DEVICE constexpr std::int64_t draw_in_range(std::uint32_t word, std::int64_t low,
                                                          std::int64_t high) {
  const auto span = static_cast<std::uint64_t>(high - low + 1);
  return low + static_cast<std::int64_t>((std::uint64_t{word} * span) >> 32);
}

// Bits 0 to 3 of a word choose the special elements, bits 4
// to 6 the value; the uniform value uses bits 8 and up alone.
ROOFTILE_HOST_DEVICE constexpr bool is_special(std::uint32_t word) { return (word & 15u) == 0; }

template <class T>
ROOFTILE_HOST_DEVICE double special_float(std::uint32_t word) {
  constexpr double kInfinity =
      std::is_same_v<T, Float8E4M3> ? largest_of<T>() : std::numeric_limits<double>::infinity();
  const double sign = (word >> 4 & 1u) != 0 ? -1.0 : 1.0;
  switch (word >> 5 & 3u) {
    case 0:
      return sign * kInfinity;
    case 1:
      return sign * 0.0;
    case 2:
      return sign * smallest_denormal_of<T>();
    default:
      return sign * largest_of<T>();
  }
}

// What Fill::uniform keeps integers in.
template <class T>
inline constexpr std::int64_t kLowestInteger = sizeof(T) == 1        ? std::numeric_limits<T>::min()
                                               : std::is_signed_v<T> ? -1000
                                                                     : 0;
template <class T>
inline constexpr std::int64_t kHighestInteger = sizeof(T) == 1 ? std::numeric_limits<T>::max() : 1000;

// Element `rank` of `count` that rise over the range of Fill::uniform. By no product that would round: a GPU rounds
// product and sum once, a CPU twice.
template <class T>
ROOFTILE_HOST_DEVICE T ramp_element(std::int64_t rank, std::int64_t count) {
  const std::int64_t last = count > 1 ? count - 1 : 1;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(kLowestInteger<T> + rank * (kHighestInteger<T> - kLowestInteger<T>) / last);
  } else {
    return round_to<T>(2.0 * (static_cast<double>(rank) / static_cast<double>(last)) - 1.0);
  }
}

template <class T>
ROOFTILE_HOST_DEVICE T draw_float(std::uint32_t word, std::uint32_t low, Fill fill) {
  if (fill == Fill::small_integers) return round_to<T>(static_cast<double>(draw_in_range(word, -8, 8)));
  if (fill == Fill::special && is_special(word)) return round_to<T>(special_float<T>(word));
  double unit = philox_unit_float(word);
  if constexpr (kWordsPerElement<T> == 2) unit += static_cast<double>(low) * 0x1p-56;
  return round_to<T>(2.0 * unit - 1.0);
}

template <class T>
ROOFTILE_HOST_DEVICE T draw_integer(std::uint32_t word, Fill fill) {
  constexpr T kMin = std::numeric_limits<T>::min();
  constexpr T kMax = std::numeric_limits<T>::max();
  constexpr bool kSigned = std::is_signed_v<T>;
  if (fill == Fill::small_integers) return static_cast<T>(draw_in_range(word, kSigned ? -8 : 0, 8));
  if (fill == Fill::special && is_special(word)) {
    switch (word >> 4 & 3u) {
      case 0:
        return kMin;
      case 1:
        return kMax;
      case 2:
        return 0;
      default:
        return 1;
    }
  }
  return static_cast<T>(draw_in_range(word, kLowestInteger<T>, kHighestInteger<T>));
}

// The elements of group `group` of tensor `tensor_index`, from
// element group * kElementsPerGroup<T> on, of a tensor of `count`.
template <class T>
ROOFTILE_HOST_DEVICE void draw_group(T* elements, std::int64_t count, std::int64_t group, Fill fill,
                                     PhiloxKey key, std::uint64_t tensor_index) {
  const PhiloxCounter words =
      philox4x32_10(philox_counter(static_cast<std::uint64_t>(group), tensor_index), key);
  const std::uint32_t w[4] = {words.x, words.y, words.z, words.w};
  for (int i = 0; i < kElementsPerGroup<T>; ++i) {
    const std::int64_t at = group * kElementsPerGroup<T> + i;
    if (at >= count) return;
    if (fill == Fill::rising || fill == Fill::falling) {
      elements[at] = ramp_element<T>(fill == Fill::rising ? at : count - 1 - at, count);
      continue;
    }
    constexpr int kWords = kWordsPerElement<T>;
    if constexpr (std::is_integral_v<T>) {
      elements[at] = draw_integer<T>(w[i], fill);
    } else {
      const int first = i * kWords;
      const bool is_nan = (fill == Fill::nan_at_last && at == count - 1) ||
                          (fill == Fill::nan_inside && (at == count / 2 || (w[first] & 63u) == 0));
      elements[at] = is_nan ? nan_of<T>() : draw_float<T>(w[first], w[first + kWords - 1], fill);
    }
  }
}

// Calls body(T()) for the storage type of a dtype.
template <class Body>
auto for_storage_type(DType dtype, Body body) {
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
    default:
      return body(std::uint64_t());
  }
}

}  // namespace rooftile::lab
