// __half and __half2 with CUDA's conversions (cuda_fp16.h).
#pragma once

#include "rooftile/sim/real16.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

using __half = detail::Real16<Float16>;
using half = __half;
using __half2 = detail::Real16x2<Float16>;
using half2 = __half2;
using __half_raw = detail::Raw16<Float16>;
using __half2_raw = detail::Raw16x2<Float16>;

inline __half __float2half(float a) { return {a}; }
inline __half __float2half_rn(float a) { return {a}; }
inline __half __double2half(double a) { return {a}; }
inline __half __int2half_rn(int a) { return {a}; }
inline __half __uint2half_rn(unsigned a) { return {a}; }
inline __half __short2half_rn(short a) { return {a}; }
inline float __half2float(__half a) { return a.wide(); }
inline unsigned short __half_as_ushort(__half a) { return a.bits; }
inline short __half_as_short(__half a) { return static_cast<short>(a.bits); }
inline __half __ushort_as_half(unsigned short bits) { return __half::from_bits(bits); }
inline __half __short_as_half(short bits) { return __half::from_bits(static_cast<unsigned short>(bits)); }

inline __half2 make_half2(__half low, __half high) { return {low, high}; }
inline __half2 __halves2half2(__half low, __half high) { return {low, high}; }
inline __half2 __half2half2(__half a) { return {a, a}; }
inline __half2 __float2half2_rn(float a) { return {a, a}; }
inline __half2 __floats2half2_rn(float low, float high) { return {low, high}; }
inline __half2 __float22half2_rn(float2 a) { return {a.x, a.y}; }
inline float2 __half22float2(__half2 a) { return {a.x.wide(), a.y.wide()}; }
inline __half __low2half(__half2 a) { return a.x; }
inline __half __high2half(__half2 a) { return a.y; }
inline __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
inline __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
inline __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
