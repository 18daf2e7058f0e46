// Elements as numbers that stand in the order of topk.
//
// A key is an element's place among all values of its dtype, turned over where the smallest are asked. A rank is the key, and
// behind it the index turned over: larger ranks come first, and no two elements of a row have the same. The lowest rank is no
// element's.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/dtype.h"
#include "rooftile/device/flip.h"
#include "rooftile/device/target.h"
#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

// Of elements of 8 bytes.
struct WideRank {
  std::uint64_t key;
  std::uint64_t turned_index;
};
__device__ __forceinline__ bool is_above(std::uint64_t a, std::uint64_t b) { return a > b; }
__device__ __forceinline__ bool is_above(const WideRank& a, const WideRank& b) {
  return a.key > b.key || (a.key == b.key && a.turned_index > b.turned_index);
}

template <class Rank>
struct Ranks;
template <>
struct Ranks<std::uint64_t> {
  using Key = std::uint32_t;
  static constexpr int kBits = 64;
  __device__ __forceinline__ static std::uint64_t lowest() { return 0; }
  __device__ __forceinline__ static std::uint64_t of(Key key, std::uint32_t index) {
    return std::uint64_t{key} << 32 | ~index;
  }
  __device__ __forceinline__ static Key key(std::uint64_t rank) { return static_cast<Key>(rank >> 32); }
  __device__ __forceinline__ static std::uint32_t index(std::uint64_t rank) {
    return ~static_cast<std::uint32_t>(rank);
  }
  // `count` bits from bit `shift` on.
  __device__ __forceinline__ static std::uint32_t bits(std::uint64_t rank, int shift, int count) {
    return static_cast<std::uint32_t>(rank >> shift) & ((1u << count) - 1u);
  }
  __device__ __forceinline__ static std::uint64_t with_bits(std::uint64_t rank, int shift,
                                                            std::uint32_t bits) {
    return rank | std::uint64_t{bits} << shift;
  }
  // The same down to bit `shift`.
  __device__ __forceinline__ static bool agree(std::uint64_t a, std::uint64_t b, int shift) {
    return shift >= kBits || (a ^ b) >> shift == 0;
  }
};
template <>
struct Ranks<WideRank> {
  using Key = std::uint64_t;
  static constexpr int kBits = 96;
  __device__ __forceinline__ static WideRank lowest() { return {0, 0}; }
  __device__ __forceinline__ static WideRank of(Key key, std::uint32_t index) {
    return {key, static_cast<std::uint32_t>(~index)};
  }
  __device__ __forceinline__ static Key key(const WideRank& rank) { return rank.key; }
  __device__ __forceinline__ static std::uint32_t index(const WideRank& rank) {
    return ~static_cast<std::uint32_t>(rank.turned_index);
  }
  // The key lies from bit 32 on.
  __device__ __forceinline__ static std::uint32_t bits(const WideRank& rank, int shift, int count) {
    const std::uint64_t word =
        shift >= 32 ? rank.key >> (shift - 32) : rank.turned_index >> shift | rank.key << (32 - shift);
    return static_cast<std::uint32_t>(word) & ((1u << count) - 1u);
  }
  __device__ __forceinline__ static WideRank with_bits(WideRank rank, int shift, std::uint32_t bits) {
    if (shift >= 32) {
      rank.key |= std::uint64_t{bits} << (shift - 32);
    } else {
      const std::uint64_t word = std::uint64_t{bits} << shift;
      rank.turned_index |= word & 0xffffffffu;
      rank.key |= word >> 32;
    }
    return rank;
  }
  __device__ __forceinline__ static bool agree(const WideRank& a, const WideRank& b, int shift) {
    if (shift >= kBits) return true;
    if (shift >= 32) return (a.key ^ b.key) >> (shift - 32) == 0;
    return a.key == b.key && (a.turned_index ^ b.turned_index) >> shift == 0;
  }
};

// From the bits of an element to its key. Bits: the unsigned integer of its size; keys of fewer than 32 bits stand in the
// highest ones.
template <class BitsOfElement, bool kFloat>
struct KeyOrder {
  using Bits = BitsOfElement;
  using Rank = std::conditional_t<sizeof(Bits) == 8, WideRank, std::uint64_t>;
  using Key = typename Ranks<Rank>::Key;
  static constexpr bool kIsFloat = kFloat;
  static constexpr int kShift = 8 * static_cast<int>(sizeof(Key) - sizeof(Bits));
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));

  Bits flip;      // of integers: turns the dtype's order into that of unsigned ones
  Bits infinity;  // of floats: larger magnitudes are NaNs
  Bits turn;      // all bits where the smallest are asked

  // The element's place, in as many bits as it has.
  __device__ __forceinline__ Bits place(Bits bits) const {
    if constexpr (kFloat) {
      const Bits magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign));
      const bool negative = bits != magnitude && magnitude != 0;
      bits = static_cast<Bits>(negative ? ~bits : magnitude | kSign);
      if (magnitude > infinity) bits = static_cast<Bits>(~Bits{0});
    } else {
      bits = static_cast<Bits>(bits ^ flip);
    }
    return static_cast<Bits>(bits ^ turn);
  }
  __device__ __forceinline__ static Key key_at(Bits place) {
    return static_cast<Key>(static_cast<Key>(place) << kShift);
  }
  __device__ __forceinline__ Key key(Bits bits) const { return key_at(place(bits)); }

  [[nodiscard]] static KeyOrder of(DType dtype, bool largest) {
    return {static_cast<Bits>(is_signed(dtype) ? kSign : Bits{0}), infinity_of(dtype),
            static_cast<Bits>(largest ? 0 : ~Bits{0})};
  }

 private:
  static Bits infinity_of(DType dtype) {
    switch (dtype) {
      case DType::f16:
        return static_cast<Bits>(0x7c00);
      case DType::bf16:
        return static_cast<Bits>(0x7f80);
      case DType::f32:
        return static_cast<Bits>(0x7f800000);
      default:
        return static_cast<Bits>(0x7ff0000000000000);
    }
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
