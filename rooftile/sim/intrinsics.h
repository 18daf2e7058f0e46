// Integer, bit-cast, conversion and cache-hint intrinsics.
#pragma once

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <source_location>
#include <type_traits>

#include "rooftile/sim/thread.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

// Bits.
inline int __popc(unsigned a) { return std::popcount(a); }
inline int __popcll(unsigned long long a) { return std::popcount(a); }
inline int __clz(int a) { return std::countl_zero(static_cast<unsigned>(a)); }
inline int __clzll(long long a) { return std::countl_zero(static_cast<unsigned long long>(a)); }
inline int __ffs(int a) { return a == 0 ? 0 : std::countr_zero(static_cast<unsigned>(a)) + 1; }
inline int __ffsll(long long a) {
  return a == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(a)) + 1;
}
inline unsigned __brev(unsigned a) {
  a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
  a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(a);
}
inline unsigned long long __brevll(unsigned long long a) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(a))) << 32 |
         __brev(static_cast<unsigned>(a >> 32));
}
// Byte i of the result is the byte of y:x that nibble i of the selector names; bit 3 of a nibble replicates
// the sign.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(y) << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> (4 * i) & 15u;
    unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7u))) & 0xffu;
    if ((nibble & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0;
    result |= byte << (8 * i);
  }
  return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) << (shift & 31u) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<std::uint64_t>(high) << 32 | low) >> (shift & 31u));
}
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}

// Bit casts.
inline int __float_as_int(float a) { return std::bit_cast<int>(a); }
inline unsigned __float_as_uint(float a) { return std::bit_cast<unsigned>(a); }
inline float __int_as_float(int a) { return std::bit_cast<float>(a); }
inline float __uint_as_float(unsigned a) { return std::bit_cast<float>(a); }
inline long long __double_as_longlong(double a) { return std::bit_cast<long long>(a); }
inline double __longlong_as_double(long long a) { return std::bit_cast<double>(a); }
inline int __double2hiint(double a) { return static_cast<int>(std::bit_cast<std::int64_t>(a) >> 32); }
inline int __double2loint(double a) { return static_cast<int>(std::bit_cast<std::int64_t>(a)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned>(high)) << 32 |
                               static_cast<unsigned>(low));
}

// Float to integer: out of range saturates, NaN becomes 0 (32 bits) or the lowest value (64 bits).
namespace detail {
template <class Integer, class Float>
Integer saturate_to(Float rounded) {
  using Limits = std::numeric_limits<Integer>;
  if (rounded != rounded) return sizeof(Integer) == 8 ? static_cast<Integer>(1ull << 63) : Integer{0};
  // 2^digits is exact in every float format; the maximum itself may not be.
  if (rounded >= std::ldexp(Float{1}, Limits::digits)) return Limits::max();
  if (rounded <= static_cast<Float>(Limits::min())) return Limits::min();
  return static_cast<Integer>(rounded);
}
}  // namespace detail

#define ROOFTILE_SIM_TO_INTEGER(From, from, To, to)                                             \
  inline To __##from##2##to##_rn(From a) { return detail::saturate_to<To>(std::nearbyint(a)); } \
  inline To __##from##2##to##_rz(From a) { return detail::saturate_to<To>(std::trunc(a)); }     \
  inline To __##from##2##to##_ru(From a) { return detail::saturate_to<To>(std::ceil(a)); }      \
  inline To __##from##2##to##_rd(From a) { return detail::saturate_to<To>(std::floor(a)); }
ROOFTILE_SIM_TO_INTEGER(float, float, int, int)
ROOFTILE_SIM_TO_INTEGER(float, float, unsigned, uint)
ROOFTILE_SIM_TO_INTEGER(float, float, long long, ll)
ROOFTILE_SIM_TO_INTEGER(float, float, unsigned long long, ull)
ROOFTILE_SIM_TO_INTEGER(double, double, int, int)
ROOFTILE_SIM_TO_INTEGER(double, double, unsigned, uint)
ROOFTILE_SIM_TO_INTEGER(double, double, long long, ll)
ROOFTILE_SIM_TO_INTEGER(double, double, unsigned long long, ull)
#undef ROOFTILE_SIM_TO_INTEGER

// Cache hints: plain accesses.
#define ROOFTILE_SIM_LOAD(name) \
  template <class T>            \
  T name(const T* address) {    \
    return *address;            \
  }
#define ROOFTILE_SIM_STORE(name)                         \
  template <class T>                                     \
  void name(T* address, std::type_identity_t<T> value) { \
    *address = value;                                    \
  }
ROOFTILE_SIM_LOAD(__ldg)
ROOFTILE_SIM_LOAD(__ldca)
ROOFTILE_SIM_LOAD(__ldcg)
ROOFTILE_SIM_LOAD(__ldcs)
ROOFTILE_SIM_LOAD(__ldlu)
ROOFTILE_SIM_LOAD(__ldcv)
ROOFTILE_SIM_STORE(__stwb)
ROOFTILE_SIM_STORE(__stcg)
ROOFTILE_SIM_STORE(__stcs)
ROOFTILE_SIM_STORE(__stwt)
#undef ROOFTILE_SIM_LOAD
#undef ROOFTILE_SIM_STORE

// Clocks count nanoseconds of the host.
inline long long clock64() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
inline int clock() { return static_cast<int>(clock64()); }

// Sleeping lets the others run.
inline void __nanosleep(unsigned, std::source_location where = std::source_location::current()) {
  detail::poll("__nanosleep", where);
}

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
