// Integer arithmetic that CUDA has functions for: products, sums of differences, averages, minima.
#pragma once

#include <concepts>
#include <cstdint>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

// Integer products.
inline unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(std::uint64_t{a} * b >> 32); }
inline int __mulhi(int a, int b) { return static_cast<int>(std::int64_t{a} * b >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<Wide>(a) * b >> 64);
}
inline long long __mul64hi(long long a, long long b) {
  __extension__ using Wide = __int128;
  return static_cast<long long>(static_cast<Wide>(a) * b >> 64);
}
// The low 32 bits of the product of the operands' low 24.
inline unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
inline int __mul24(int a, int b) {
  const auto extend = [](int v) {
    return static_cast<unsigned>(static_cast<int>(static_cast<unsigned>(v) << 8) >> 8);
  };
  return static_cast<int>(extend(a) * extend(b));
}
inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
inline unsigned __sad(int a, int b, unsigned c) {
  const std::int64_t difference = std::int64_t{a} - b;
  return static_cast<unsigned>(difference < 0 ? -difference : difference) + c;
}
// Four 8-bit products, added to c.
inline int __dp4a(int a, int b, int c) {
  auto sum = static_cast<unsigned>(c);
  for (int i = 0; i < 4; ++i) {
    sum += static_cast<unsigned>(static_cast<std::int8_t>(a >> (8 * i)) *
                                 static_cast<std::int8_t>(b >> (8 * i)));
  }
  return static_cast<int>(sum);
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xffu) * (b >> (8 * i) & 0xffu);
  return c;
}
// Two 16-bit values of `a` by the two lower (upper) bytes of `b`, added to c.
namespace detail {
template <class Half, class Byte, class T>
T multiply_pairs(T a, T b, T c, int first_byte) {
  auto sum = static_cast<unsigned>(c);
  for (int i = 0; i < 2; ++i) {
    sum += static_cast<unsigned>(static_cast<Half>(a >> (16 * i)) *
                                 static_cast<Byte>(b >> (8 * (first_byte + i))));
  }
  return static_cast<T>(sum);
}
}  // namespace detail
inline int __dp2a_lo(int a, int b, int c) {
  return detail::multiply_pairs<std::int16_t, std::int8_t>(a, b, c, 0);
}
inline int __dp2a_hi(int a, int b, int c) {
  return detail::multiply_pairs<std::int16_t, std::int8_t>(a, b, c, 2);
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return detail::multiply_pairs<std::uint16_t, std::uint8_t>(a, b, c, 0);
}
inline unsigned __dp2a_hi(unsigned a, unsigned b, unsigned c) {
  return detail::multiply_pairs<std::uint16_t, std::uint8_t>(a, b, c, 2);
}

// Averages, rounded down (__rhadd: up), without overflow. Templates, because __hadd is the sum of two halves
// as well, which would convert to int.
template <std::integral A, std::integral B>
int __hadd(A a, B b) {
  return static_cast<int>((std::int64_t{static_cast<int>(a)} + static_cast<int>(b)) >> 1);
}
inline int __rhadd(int a, int b) { return static_cast<int>((std::int64_t{a} + b + 1) >> 1); }
inline unsigned __uhadd(unsigned a, unsigned b) { return static_cast<unsigned>((std::uint64_t{a} + b) >> 1); }
inline unsigned __urhadd(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} + b + 1) >> 1);
}

// The position of the offset-th bit that is set, counted from bit `base` on (negative: downwards); 0: that
// bit alone. All ones where there is none.
inline unsigned __fns(unsigned mask, unsigned base, int offset) {
  constexpr unsigned kNone = 0xffffffffu;
  if (offset == 0) return base < 32 && (mask >> base & 1u) != 0 ? base : kNone;
  const int step = offset > 0 ? 1 : -1;
  std::int64_t left = std::int64_t{offset} * step;
  for (std::int64_t at = base; at >= 0 && at < 32; at += step) {
    if ((mask >> at & 1u) != 0 && --left == 0) return static_cast<unsigned>(at);
  }
  return kNone;
}

inline unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
inline unsigned umax(unsigned a, unsigned b) { return b > a ? b : a; }
inline long long llmin(long long a, long long b) { return b < a ? b : a; }
inline long long llmax(long long a, long long b) { return b > a ? b : a; }
inline unsigned long long ullmin(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
inline unsigned long long ullmax(unsigned long long a, unsigned long long b) { return b > a ? b : a; }

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
