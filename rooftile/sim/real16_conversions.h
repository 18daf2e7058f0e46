// Conversions of __half and __nv_bfloat16 that name their rounding, and those from and to integers.
#pragma once

#include <cmath>

#include "rooftile/sim/bfloat16.h"
#include "rooftile/sim/half.h"
#include "rooftile/sim/intrinsics.h"
#include "rooftile/sim/rounding.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

namespace detail {
// The nearest value, or its neighbour where that lies on the wrong side; infinity is one of the largest
// finite number's. Exact double operands alone.
template <class Storage>
Real16<Storage> round_toward(Rounding rounding, double value) {
  const Real16<Storage> nearest(value);
  const double got = nearest.wide();
  if (got == value || value != value) return nearest;
  const bool upwards = rounding == Rounding::up || (rounding == Rounding::toward_zero && value < 0);
  if (upwards == (got > value)) return nearest;
  // One step from `got` towards the other side of `value`: a magnitude's bits are in order, and zero has a
  // sign.
  const bool negative = std::signbit(value);
  const int step = upwards != negative ? 1 : -1;
  return Real16<Storage>::from_bits(static_cast<std::uint16_t>(nearest.bits + step));
}
}  // namespace detail

#define ROOFTILE_SIM_ROUND_TO_16(T, to, Storage, mode, rounding)         \
  inline T __float2##to##_##mode(float a) {                              \
    return detail::round_toward<Storage>(detail::Rounding::rounding, a); \
  }                                                                      \
  inline T __int2##to##_##mode(int a) {                                  \
    return detail::round_toward<Storage>(detail::Rounding::rounding, a); \
  }                                                                      \
  inline T __uint2##to##_##mode(unsigned a) {                            \
    return detail::round_toward<Storage>(detail::Rounding::rounding, a); \
  }
#define ROOFTILE_SIM_REAL16_TO_INTEGER(T, from, To, to)                       \
  inline To __##from##2##to##_rn(T a) { return __float2##to##_rn(a.wide()); } \
  inline To __##from##2##to##_rz(T a) { return __float2##to##_rz(a.wide()); } \
  inline To __##from##2##to##_ru(T a) { return __float2##to##_ru(a.wide()); } \
  inline To __##from##2##to##_rd(T a) { return __float2##to##_rd(a.wide()); }
#define ROOFTILE_SIM_REAL16_CONVERSIONS(T, name, Storage)     \
  ROOFTILE_SIM_ROUND_TO_16(T, name, Storage, rz, toward_zero) \
  ROOFTILE_SIM_ROUND_TO_16(T, name, Storage, ru, up)          \
  ROOFTILE_SIM_ROUND_TO_16(T, name, Storage, rd, down)        \
  ROOFTILE_SIM_REAL16_TO_INTEGER(T, name, int, int)           \
  ROOFTILE_SIM_REAL16_TO_INTEGER(T, name, unsigned, uint)     \
  ROOFTILE_SIM_REAL16_TO_INTEGER(T, name, long long, ll)      \
  ROOFTILE_SIM_REAL16_TO_INTEGER(T, name, unsigned long long, ull)
ROOFTILE_SIM_REAL16_CONVERSIONS(__half, half, Float16)
ROOFTILE_SIM_REAL16_CONVERSIONS(__nv_bfloat16, bfloat16, BFloat16)
#undef ROOFTILE_SIM_REAL16_CONVERSIONS
#undef ROOFTILE_SIM_REAL16_TO_INTEGER
#undef ROOFTILE_SIM_ROUND_TO_16

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
