// One element of an input from its random words: the same bits on host, device and simulated SM.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "rooftile/core/case.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/philox.h"
#include "rooftile/core/small_float.h"

namespace rooftile {

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
  static constexpr unsigned kNotFinite = 0x7C00;  // where all of these bits are set
  static constexpr double kLargest = 65504.0;
  static constexpr double kSmallestDenormal = 0x1p-24;
};
template <>
struct SmallFormat<BFloat16> {
  using Bits = BF16;
  static constexpr unsigned kNotFinite = 0x7F80;
  static constexpr double kLargest = 0x1.FEp127;
  static constexpr double kSmallestDenormal = 0x1p-133;
};
template <>
struct SmallFormat<Float8E4M3> {
  using Bits = E4M3;
  static constexpr unsigned kNotFinite = 0x7F;
  static constexpr double kLargest = 448.0;
  static constexpr double kSmallestDenormal = 0x1p-9;
};
template <>
struct SmallFormat<Float8E5M2> {
  using Bits = E5M2;
  static constexpr unsigned kNotFinite = 0x7C;
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

// f8e4m3, which has no infinity: its largest finite value.
template <class T>
ROOFTILE_HOST_DEVICE constexpr double infinity_of() {
  return std::is_same_v<T, Float8E4M3> ? largest_of<T>() : std::numeric_limits<double>::infinity();
}

template <class T, class Bits>
ROOFTILE_HOST_DEVICE T bit_pattern(Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  T value;
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
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
  const double sign = (word >> 4 & 1u) != 0 ? -1.0 : 1.0;
  switch (word >> 5 & 3u) {
    case 0:
      return sign * infinity_of<T>();
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

// 64 random bits for an element whose own word has 32 (splitmix64).
ROOFTILE_HOST_DEVICE constexpr std::uint64_t more_bits(std::uint32_t word, std::int64_t at,
                                                       std::uint32_t which) {
  std::uint64_t z =
      (std::uint64_t{word} << 32) + static_cast<std::uint64_t>(at) * 0x9E3779B97F4A7C15u + which;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Mean 0, variance 1: a sum of 12 uniform values, of which twelve bytes and one remainder are drawn. Every step is
// exact, so that a GPU, which fuses them, gets the same.
ROOFTILE_HOST_DEVICE constexpr double draw_normal(std::uint32_t word, std::int64_t at) {
  const std::uint64_t first = more_bits(word, at, 0);
  const std::uint64_t second = more_bits(word, at, 1);
  std::uint64_t sum = 0;
  for (int i = 0; i < 64; i += 8) sum += first >> i & 0xFFu;
  for (int i = 0; i < 32; i += 8) sum += second >> i & 0xFFu;
  // Twelve bytes lack half a step each: 6 in all, less the half that the remainder has on average.
  const double steps = static_cast<double>(sum) + static_cast<double>(second >> 40) * 0x1p-24 + 5.5;
  return steps * 0x1p-8 - 6.0;
}

// Magnitudes from 2^-8 to 2^8, as many in each power of two.
ROOFTILE_HOST_DEVICE constexpr double draw_log_uniform(std::uint32_t word) {
  const double fraction = 1.0 + static_cast<double>(word >> 8) * 0x1p-24;
  const int exponent = static_cast<int>(word >> 1 & 15u);
  const double magnitude = fraction * static_cast<double>(1u << exponent) * 0x1p-8;
  return (word & 1u) != 0 ? -magnitude : magnitude;
}

// A finite value by its bits: where they are no finite value's, the highest bit of the exponent goes.
template <class T>
ROOFTILE_HOST_DEVICE T draw_finite_bits(std::uint32_t word, std::int64_t at) {
  const std::uint64_t bits = more_bits(word, at, 0);
  if constexpr (std::is_same_v<T, double>) {
    const bool finite = (bits >> 52 & 0x7FFu) != 0x7FFu;
    return bit_pattern<double>(finite ? bits : bits & ~(std::uint64_t{1} << 62));
  } else if constexpr (std::is_same_v<T, float>) {
    const auto half = static_cast<std::uint32_t>(bits);
    const bool finite = (half >> 23 & 0xFFu) != 0xFFu;
    return bit_pattern<float>(finite ? half : half & ~(1u << 30));
  } else {
    T value;
    using Bits = decltype(value.bits);
    constexpr unsigned kTopOfExponent = 1u << (8 * sizeof(Bits) - 2);
    const auto drawn = static_cast<unsigned>(static_cast<Bits>(bits));
    const bool finite = (drawn & SmallFormat<T>::kNotFinite) != SmallFormat<T>::kNotFinite;
    value.bits = static_cast<Bits>(finite ? drawn : drawn & ~kTopOfExponent);
    return value;
  }
}

// As many values in each power of two.
template <class T>
ROOFTILE_HOST_DEVICE T draw_log_integer(std::uint32_t word, std::int64_t at) {
  constexpr unsigned kBits = 8 * sizeof(T) - (std::is_signed_v<T> ? 1 : 0);
  const std::uint64_t bits = more_bits(word, at, 0);
  const unsigned top = (word >> 1) % kBits;
  const std::uint64_t magnitude = std::uint64_t{1} << top | (bits & ((std::uint64_t{1} << top) - 1));
  return std::is_signed_v<T> && (word & 1u) != 0 ? static_cast<T>(0 - magnitude) : static_cast<T>(magnitude);
}

ROOFTILE_HOST_DEVICE constexpr bool has_extrema(Fill fill) {
  return fill == Fill::one_maximum || fill == Fill::tile_maximum || fill == Fill::tile_minimum;
}

// Where the fills with one largest and one smallest element have them: 1, -1, or 0 for all others.
ROOFTILE_HOST_DEVICE constexpr int extremum(Fill fill, std::int64_t at, std::int64_t count) {
  if (!has_extrema(fill)) return 0;
  const std::int64_t tile = (count - 1) / 256 * 256;
  const std::int64_t before = tile > 0 ? tile - 1 : 1;
  std::int64_t top = count - 1;
  std::int64_t bottom = 0;
  if (fill != Fill::one_maximum) {
    top = fill == Fill::tile_maximum ? tile : before;
    bottom = fill == Fill::tile_maximum ? before : tile;
  }
  return at == top ? 1 : at == bottom ? -1 : 0;
}

template <class T>
ROOFTILE_HOST_DEVICE T draw_float(std::uint32_t word, std::uint32_t low, Fill fill, std::int64_t at,
                                  int peak) {
  if (peak != 0) return round_to<T>(2.0 * peak);
  if (fill == Fill::normal) return round_to<T>(draw_normal(word, at));
  if (fill == Fill::log_uniform) return round_to<T>(draw_log_uniform(word));
  if (fill == Fill::any_bits) return draw_finite_bits<T>(word, at);
  if (fill == Fill::equal) return round_to<T>(1.5);
  if (fill == Fill::small_integers) return round_to<T>(static_cast<double>(draw_in_range(word, -8, 8)));
  if (fill == Fill::special && is_special(word)) return round_to<T>(special_float<T>(word));
  double unit = philox_unit_float(word);
  if constexpr (kWordsPerElement<T> == 2) unit += static_cast<double>(low) * 0x1p-56;
  return round_to<T>(2.0 * unit - 1.0);
}

template <class T>
ROOFTILE_HOST_DEVICE T draw_integer(std::uint32_t word, Fill fill, std::int64_t at, int peak) {
  constexpr T kMin = std::numeric_limits<T>::min();
  constexpr T kMax = std::numeric_limits<T>::max();
  constexpr bool kSigned = std::is_signed_v<T>;
  if (has_extrema(fill)) {
    const std::int64_t value = peak > 0 ? kHighestInteger<T>
                               : peak < 0
                                   ? kLowestInteger<T>
                                   : draw_in_range(word, kLowestInteger<T> + 1, kHighestInteger<T> - 1);
    return static_cast<T>(value);
  }
  if (fill == Fill::normal) {
    constexpr std::int64_t kDeviation = (kHighestInteger<T> - kLowestInteger<T>) / 16;
    constexpr std::int64_t kMean = (kHighestInteger<T> + kLowestInteger<T>) / 2;
    const auto value =
        kMean + static_cast<std::int64_t>(draw_normal(word, at) * static_cast<double>(kDeviation));
    return static_cast<T>(value);
  }
  if (fill == Fill::log_uniform) return draw_log_integer<T>(word, at);
  if (fill == Fill::any_bits) return static_cast<T>(more_bits(word, at, 0));
  if (fill == Fill::equal) return T{3};
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

// The elements of group `group` of tensor `tensor_index`: of a tensor of `count` those from group * kElementsPerGroup<T>
// on, to `elements`.
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
      elements[i] = ramp_element<T>(fill == Fill::rising ? at : count - 1 - at, count);
      continue;
    }
    constexpr int kWords = kWordsPerElement<T>;
    const int peak = extremum(fill, at, count);
    if constexpr (std::is_integral_v<T>) {
      elements[i] = draw_integer<T>(w[i], fill, at, peak);
    } else {
      const int first = i * kWords;
      const bool here = at == count / 2 || (w[first] & 63u) == 0;
      if ((fill == Fill::nan_at_last && at == count - 1) || (fill == Fill::nan_inside && here)) {
        elements[i] = nan_of<T>();
      } else if (fill == Fill::inf_inside && (here || at == 0)) {
        const bool negative = at == 0 || (w[first] >> 6 & 1u) != 0;
        elements[i] = round_to<T>(negative ? -infinity_of<T>() : infinity_of<T>());
      } else {
        elements[i] = draw_float<T>(w[first], w[first + kWords - 1], fill, at, peak);
      }
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

}  // namespace rooftile
