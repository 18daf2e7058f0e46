// __nv_bfloat16 and __nv_bfloat162 with CUDA's conversions (cuda_bf16.h).
#pragma once

#include "rooftile/sim/real16.h"

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's
namespace rooftile::simt {

using __nv_bfloat16 = detail::Real16<BFloat16>;
using nv_bfloat16 = __nv_bfloat16;
using __nv_bfloat162 = detail::Real16x2<BFloat16>;
using nv_bfloat162 = __nv_bfloat162;
using __nv_bfloat16_raw = detail::Raw16<BFloat16>;
using __nv_bfloat162_raw = detail::Raw16x2<BFloat16>;

inline __nv_bfloat16 __float2bfloat16(float a) { return {a}; }
inline __nv_bfloat16 __float2bfloat16_rn(float a) { return {a}; }
inline __nv_bfloat16 __double2bfloat16(double a) { return {a}; }
inline __nv_bfloat16 __int2bfloat16_rn(int a) { return {a}; }
inline __nv_bfloat16 __uint2bfloat16_rn(unsigned a) { return {a}; }
inline float __bfloat162float(__nv_bfloat16 a) { return a.wide(); }
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
inline short __bfloat16_as_short(__nv_bfloat16 a) { return static_cast<short>(a.bits); }
inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { return __nv_bfloat16::from_bits(bits); }
inline __nv_bfloat16 __short_as_bfloat16(short bits) {
  return __nv_bfloat16::from_bits(static_cast<unsigned short>(bits));
}

inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return {low, high}; }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return {low, high}; }
inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
inline __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return {low, high}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x.wide(), a.y.wide()}; }
inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
inline __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) { return {a.x, a.x}; }
inline __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) { return {a.y, a.y}; }
inline __nv_bfloat162 __lowhigh2highlow(__nv_bfloat162 a) { return {a.y, a.x}; }

}  // namespace rooftile::simt
// NOLINTEND(bugprone-reserved-identifier)
