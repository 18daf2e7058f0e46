// Orders of many dtypes as one order of unsigned bits or floats: every element is read through a pattern of bits.
//
//                      signed integers      unsigned     floats
//   largest            the sign bit         -            -
//   smallest           all but the sign     all bits     the sign
//
// Whoever looks for the largest finds what was asked for; reading it through the same pattern gives it back.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/core/dtype.h"
#include "rooftile/device/target.h"
#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

template <std::size_t kBytes>
using BitsOf =
    std::conditional_t<kBytes == 1, std::uint8_t,
                       std::conditional_t<kBytes == 2, std::uint16_t,
                                          std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>>>;

// `flip` repeats the element's pattern over 64 bits.
template <class T>
__device__ __forceinline__ T flipped(T x, std::uint64_t flip) {
  BitsOf<sizeof(T)> bits;
  memcpy(&bits, &x, sizeof(T));
  bits = static_cast<BitsOf<sizeof(T)>>(bits ^ flip);
  memcpy(static_cast<void*>(&x), &bits, sizeof(T));
  return x;
}

// A vector's, a word of registers at once: a byte costs a quarter of an instruction.
template <class T, int kCount>
__device__ __forceinline__ Vec<T, kCount> flipped(Vec<T, kCount> x, std::uint64_t flip) {
  constexpr int kWords = static_cast<int>(sizeof(x)) / 4;
  static_assert(sizeof(x) % 8 == 0, "the pattern is of 64 bits");
  std::uint32_t words[kWords];
  memcpy(words, &x, sizeof(x));
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    words[i] ^= static_cast<std::uint32_t>(sizeof(T) == 8 && i % 2 == 1 ? flip >> 32 : flip);
  }
  memcpy(static_cast<void*>(&x), words, sizeof(x));
  return x;
}

// The pattern that makes the smallest, or the largest, elements of a dtype the largest.
inline std::uint64_t flip_of(DType dtype, bool smallest) {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  const std::size_t bits = 8 * size_of(dtype);
  const std::uint64_t sign = kOnes / (kOnes >> (64 - bits)) << (bits - 1);  // of each element in 64 bits
  if (is_float(dtype)) return smallest ? sign : 0;
  const std::uint64_t to_unsigned = is_signed(dtype) ? sign : 0;
  return smallest ? ~to_unsigned : to_unsigned;
}

// The dtype that a signed integer is compiled as.
inline DType unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::i8:
      return DType::u8;
    case DType::i16:
      return DType::u16;
    case DType::i32:
      return DType::u32;
    case DType::i64:
      return DType::u64;
    default:
      return dtype;
  }
}

}  // namespace rooftile::ROOFTILE_TARGET
