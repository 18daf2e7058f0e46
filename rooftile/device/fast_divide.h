// Unsigned division by a divisor that does not change within a launch: a multiplication and two shifts in
// place of some twenty (32 bits) or seventy (64 bits) instructions.
//
// The host makes the divisor, the kernel takes it by value: FastDivisor<std::uint32_t> by_columns(columns).
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <type_traits>

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

// Exact for every dividend of the type and every divisor from 1 on. Source: Granlund and Montgomery,
// "Division by Invariant Integers using Multiplication", PLDI 1994, figure 4.1.
template <class UInt>
class FastDivisor {
  static_assert(std::is_same_v<UInt, std::uint32_t> || std::is_same_v<UInt, std::uint64_t>);
  static constexpr int kBits = 8 * static_cast<int>(sizeof(UInt));
  __extension__ using Wide = std::conditional_t<kBits == 32, std::uint64_t, unsigned __int128>;

 public:
  struct Parts {
    UInt quotient;
    UInt remainder;
  };

  // `divisor` is at least 1.
  explicit constexpr FastDivisor(UInt divisor) : divisor_(divisor) {
    assert(divisor > 0);
    const auto log2 = static_cast<int>(std::bit_width(static_cast<UInt>(divisor - 1)));  // rounded up
    // 2^log2 - divisor, which fits: 2^log2 < 2 * divisor.
    const auto excess = static_cast<UInt>((Wide{1} << log2) - divisor);
    multiplier_ = static_cast<UInt>((Wide{excess} << kBits) / divisor + 1);
    first_shift_ = log2 < 1 ? log2 : 1;
    second_shift_ = log2 < 1 ? 0 : log2 - 1;
  }

  __host__ __device__ __forceinline__ constexpr UInt divisor() const { return divisor_; }
  __host__ __device__ __forceinline__ constexpr UInt divide(UInt n) const {
    const auto high = static_cast<UInt>(Wide{multiplier_} * n >> kBits);
    return (high + ((n - high) >> first_shift_)) >> second_shift_;
  }
  __host__ __device__ __forceinline__ constexpr Parts divide_with_remainder(UInt n) const {
    const UInt quotient = divide(n);
    return {quotient, n - quotient * divisor_};
  }

 private:
  UInt divisor_;
  UInt multiplier_ = 0;
  int first_shift_ = 0;
  int second_shift_ = 0;
};

}  // namespace rooftile::ROOFTILE_TARGET
