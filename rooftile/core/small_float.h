// The bits of 16- and 8-bit floats, computed the same way on host and device.
#pragma once

#include <cstdint>
#include <cstring>

#include "rooftile/core/host_device.h"

namespace rooftile {

// A binary float of 1 + kExponentBits + kMantissaBits bits. Without infinities (E4M3) only the all-ones
// pattern is NaN and the rest of the top exponent is finite.
template <int kExponentBits, int kMantissaBits, bool kHasInfinity>
struct SmallFloat {
  static constexpr int kFractionBits = kMantissaBits;
  static constexpr bool kInfinities = kHasInfinity;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kMinExponent = 1 - kBias;  // of the smallest normal number
  static constexpr std::uint32_t kSign = 1u << (kExponentBits + kMantissaBits);
  static constexpr std::uint32_t kMantissa = (1u << kMantissaBits) - 1;
  static constexpr std::uint32_t kTopExponent = ((1u << kExponentBits) - 1) << kMantissaBits;
  static constexpr std::uint32_t kQuiet =
      kHasInfinity ? kTopExponent | 1u << (kMantissaBits - 1) : kTopExponent | kMantissa;
  static constexpr std::uint32_t kOverflow = kHasInfinity ? kTopExponent : kQuiet;

  // Rounded once, to nearest even.
  ROOFTILE_HOST_DEVICE static std::uint32_t encode(double value) {
    constexpr int kDoubleMantissaBits = 52;
    std::uint64_t bits = 0;
    memcpy(&bits, &value, sizeof(bits));
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
    const int scale = exponent > kMinExponent ? exponent : kMinExponent;
    const int shift = kDoubleMantissaBits - kMantissaBits + scale - exponent;
    if (shift > kDoubleMantissaBits + 1) return sign;  // below half a unit
    std::uint64_t units = significand >> shift;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    if (rest > half || (rest == half && (units & 1) != 0)) ++units;
    // The implicit bit of a normal number adds one to the
    // exponent field, and so does a carry out of the mantissa.
    const std::uint64_t magnitude =
        (static_cast<std::uint64_t>(scale - kMinExponent) << kMantissaBits) + units;
    return sign | (magnitude < kOverflow ? static_cast<std::uint32_t>(magnitude) : kOverflow);
  }
};

using F16 = SmallFloat<5, 10, true>;
using BF16 = SmallFloat<8, 7, true>;
using E4M3 = SmallFloat<4, 3, false>;
using E5M2 = SmallFloat<5, 2, true>;

}  // namespace rooftile
