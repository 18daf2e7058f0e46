// What __half and __nv_bfloat16 have in common: 16-bit storage, arithmetic in float, rounded once.
//
// The sum, product, quotient and root of two such numbers, computed in float and rounded again, equal the
// correctly rounded ones: float has more than twice their digits plus two (Figueroa 1995). The fused
// multiply-add needs more, and rounds its exact value to odd in double first (Boldo, Melquiond 2008).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/core/dtype.h"
#include "rooftile/sim/vector_types.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt::detail {

template <class Storage>
Storage storage_from(double value) {
  if constexpr (std::is_same_v<Storage, Float16>) {
    return to_float16(value);
  } else {
    return to_bfloat16(value);
  }
}

// CUDA's __half_raw and __nv_bfloat16_raw: the bits alone.
template <class Storage>
struct Raw16 {
  unsigned short x;
};
template <class Storage>
struct alignas(4) Raw16x2 {
  unsigned short x, y;
};

template <class Storage>
struct Real16 {
  std::uint16_t bits;

  Real16() = default;
  // NOLINTBEGIN(google-explicit-constructor): implicit, as CUDA's are
  Real16(float value) : bits(storage_from<Storage>(value).bits) {}
  Real16(double value) : bits(storage_from<Storage>(value).bits) {}
  template <class Integer>
  requires std::is_integral_v<Integer> Real16(Integer value)
      : bits(storage_from<Storage>(static_cast<double>(value)).bits) {}
  Real16(Raw16<Storage> raw) : bits(raw.x) {}

  operator Raw16<Storage>() const { return {bits}; }
  operator float() const { return to_float(Storage{bits}); }
  // NOLINTEND(google-explicit-constructor)

  static Real16 from_bits(std::uint16_t bits) {
    Real16 value;
    value.bits = bits;
    return value;
  }
  [[nodiscard]] float wide() const { return to_float(Storage{bits}); }

  friend Real16 operator+(Real16 a, Real16 b) { return {a.wide() + b.wide()}; }
  friend Real16 operator-(Real16 a, Real16 b) { return {a.wide() - b.wide()}; }
  friend Real16 operator*(Real16 a, Real16 b) { return {a.wide() * b.wide()}; }
  friend Real16 operator/(Real16 a, Real16 b) { return {a.wide() / b.wide()}; }
  friend Real16 operator+(Real16 a) { return a; }
  friend Real16 operator-(Real16 a) { return from_bits(static_cast<std::uint16_t>(a.bits ^ 0x8000u)); }
  Real16& operator+=(Real16 other) { return *this = *this + other; }
  Real16& operator-=(Real16 other) { return *this = *this - other; }
  Real16& operator*=(Real16 other) { return *this = *this * other; }
  Real16& operator/=(Real16 other) { return *this = *this / other; }
  friend bool operator==(Real16 a, Real16 b) { return a.wide() == b.wide(); }
  friend bool operator!=(Real16 a, Real16 b) { return a.wide() != b.wide(); }
  friend bool operator<(Real16 a, Real16 b) { return a.wide() < b.wide(); }
  friend bool operator<=(Real16 a, Real16 b) { return a.wide() <= b.wide(); }
  friend bool operator>(Real16 a, Real16 b) { return a.wide() > b.wide(); }
  friend bool operator>=(Real16 a, Real16 b) { return a.wide() >= b.wide(); }
};

template <class Storage>
struct alignas(4) Real16x2 {
  Real16<Storage> x, y;
  Real16x2() = default;
  Real16x2(Real16<Storage> low, Real16<Storage> high) : x(low), y(high) {}
  // NOLINTBEGIN(google-explicit-constructor): implicit, as CUDA's are
  Real16x2(Raw16x2<Storage> raw) : x(Raw16<Storage>{raw.x}), y(Raw16<Storage>{raw.y}) {}
  operator Raw16x2<Storage>() const { return {x.bits, y.bits}; }
  // NOLINTEND(google-explicit-constructor)

  friend Real16x2 operator+(Real16x2 a, Real16x2 b) { return {a.x + b.x, a.y + b.y}; }
  friend Real16x2 operator-(Real16x2 a, Real16x2 b) { return {a.x - b.x, a.y - b.y}; }
  friend Real16x2 operator*(Real16x2 a, Real16x2 b) { return {a.x * b.x, a.y * b.y}; }
  friend Real16x2 operator/(Real16x2 a, Real16x2 b) { return {a.x / b.x, a.y / b.y}; }
  friend Real16x2 operator-(Real16x2 a) { return {-a.x, -a.y}; }
  Real16x2& operator+=(Real16x2 other) { return *this = *this + other; }
  Real16x2& operator-=(Real16x2 other) { return *this = *this - other; }
  Real16x2& operator*=(Real16x2 other) { return *this = *this * other; }
};

// a * b + c in double, its last bit set where it is not exact, so that a further rounding decides as from the
// exact value. Precondition: a * b is exact in double.
inline double multiply_add_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum)) return sum;
  const double virtual_c = sum - product;
  const double error = (product - (sum - virtual_c)) + (c - virtual_c);
  const auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1u) != 0) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace rooftile::simt::detail

namespace rooftile::simt {

// One number, or the same to both halves of a pair: CUDA overloads these for __half and __nv_bfloat16 and,
// with a 2 in the name, for their pairs.
#define ROOFTILE_SIM_UNARY(name, body)          \
  template <class S>                            \
  detail::Real16<S> name(detail::Real16<S> a) { \
    return body;                                \
  }
#define ROOFTILE_SIM_UNARY_WITH_PAIR(name, name2, body) \
  ROOFTILE_SIM_UNARY(name, body)                        \
  template <class S>                                    \
  detail::Real16x2<S> name2(detail::Real16x2<S> a) {    \
    return {name(a.x), name(a.y)};                      \
  }
#define ROOFTILE_SIM_BINARY_WITH_PAIR(name, name2, body)                    \
  template <class S>                                                        \
  detail::Real16<S> name(detail::Real16<S> a, detail::Real16<S> b) {        \
    return body;                                                            \
  }                                                                         \
  template <class S>                                                        \
  detail::Real16x2<S> name2(detail::Real16x2<S> a, detail::Real16x2<S> b) { \
    return {name(a.x, b.x), name(a.y, b.y)};                                \
  }
#define ROOFTILE_SIM_COMPARE(name, body)                \
  template <class S>                                    \
  bool name(detail::Real16<S> a, detail::Real16<S> b) { \
    return body;                                        \
  }

ROOFTILE_SIM_BINARY_WITH_PAIR(__hadd, __hadd2, a + b)
ROOFTILE_SIM_BINARY_WITH_PAIR(__hadd_rn, __hadd2_rn, a + b)
ROOFTILE_SIM_BINARY_WITH_PAIR(__hsub, __hsub2, a - b)
ROOFTILE_SIM_BINARY_WITH_PAIR(__hsub_rn, __hsub2_rn, a - b)
ROOFTILE_SIM_BINARY_WITH_PAIR(__hmul, __hmul2, a* b)
ROOFTILE_SIM_BINARY_WITH_PAIR(__hmul_rn, __hmul2_rn, a* b)
ROOFTILE_SIM_BINARY_WITH_PAIR(__hdiv, __h2div, a / b)
// NaN loses against a number, as in fmin and fmax; the _nan forms keep it.
ROOFTILE_SIM_BINARY_WITH_PAIR(__hmin, __hmin2, std::fmin(a.wide(), b.wide()))
ROOFTILE_SIM_BINARY_WITH_PAIR(__hmax, __hmax2, std::fmax(a.wide(), b.wide()))
ROOFTILE_SIM_BINARY_WITH_PAIR(__hmin_nan, __hmin2_nan, a != a || b != b ? a + b : (b < a ? b : a))
ROOFTILE_SIM_BINARY_WITH_PAIR(__hmax_nan, __hmax2_nan, a != a || b != b ? a + b : (b > a ? b : a))
ROOFTILE_SIM_UNARY_WITH_PAIR(__hneg, __hneg2, -a)
ROOFTILE_SIM_UNARY_WITH_PAIR(__habs, __habs2, a.from_bits(static_cast<std::uint16_t>(a.bits & 0x7fffu)))
ROOFTILE_SIM_UNARY_WITH_PAIR(hsqrt, h2sqrt, std::sqrt(a.wide()))
ROOFTILE_SIM_UNARY_WITH_PAIR(hrsqrt, h2rsqrt, 1.0 / std::sqrt(double{a.wide()}))
ROOFTILE_SIM_UNARY_WITH_PAIR(hrcp, h2rcp, 1.0f / a.wide())
ROOFTILE_SIM_UNARY_WITH_PAIR(hexp, h2exp, std::exp(double{a.wide()}))
ROOFTILE_SIM_UNARY_WITH_PAIR(hexp2, h2exp2, std::exp2(double{a.wide()}))
ROOFTILE_SIM_UNARY_WITH_PAIR(hlog, h2log, std::log(double{a.wide()}))
ROOFTILE_SIM_UNARY_WITH_PAIR(hlog2, h2log2, std::log2(double{a.wide()}))
ROOFTILE_SIM_UNARY_WITH_PAIR(hsin, h2sin, std::sin(double{a.wide()}))
ROOFTILE_SIM_UNARY_WITH_PAIR(hcos, h2cos, std::cos(double{a.wide()}))
ROOFTILE_SIM_UNARY_WITH_PAIR(hfloor, h2floor, std::floor(a.wide()))
ROOFTILE_SIM_UNARY_WITH_PAIR(hceil, h2ceil, std::ceil(a.wide()))
ROOFTILE_SIM_UNARY_WITH_PAIR(hrint, h2rint, std::nearbyint(a.wide()))
ROOFTILE_SIM_UNARY_WITH_PAIR(htrunc, h2trunc, std::trunc(a.wide()))
ROOFTILE_SIM_COMPARE(__heq, a == b)
ROOFTILE_SIM_COMPARE(__hne, a<b || a> b)  // false for NaN: the ordered form
ROOFTILE_SIM_COMPARE(__hneu, a != b)
ROOFTILE_SIM_COMPARE(__hlt, a < b)
ROOFTILE_SIM_COMPARE(__hle, a <= b)
ROOFTILE_SIM_COMPARE(__hgt, a > b)
ROOFTILE_SIM_COMPARE(__hge, a >= b)
#undef ROOFTILE_SIM_UNARY
#undef ROOFTILE_SIM_UNARY_WITH_PAIR
#undef ROOFTILE_SIM_BINARY_WITH_PAIR
#undef ROOFTILE_SIM_COMPARE

template <class S>
detail::Real16<S> __hfma(detail::Real16<S> a, detail::Real16<S> b, detail::Real16<S> c) {
  return {detail::multiply_add_to_odd(a.wide(), b.wide(), c.wide())};
}
template <class S>
detail::Real16x2<S> __hfma2(detail::Real16x2<S> a, detail::Real16x2<S> b, detail::Real16x2<S> c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
template <class S>
bool __hisnan(detail::Real16<S> a) {
  return a != a;
}
template <class S>
int __hisinf(detail::Real16<S> a) {
  return std::isinf(a.wide()) ? (a.wide() > 0 ? 1 : -1) : 0;
}

// Pairs: x is the low half.
template <class S>
float __low2float(detail::Real16x2<S> a) {
  return a.x.wide();
}
template <class S>
float __high2float(detail::Real16x2<S> a) {
  return a.y.wide();
}

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
