// The special function unit's own functions, without what the library adds for denormals.
#pragma once

#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include <cmath>
#endif

namespace rooftile::ROOFTILE_TARGET {

// 2^x to 2 units in the last place; 0 where that is below 2^-126. NaN of NaN. Source: PTX ISA, ex2.approx.ftz.
__device__ __forceinline__ float fast_exp2(float x) {
#if defined(ROOFTILE_SIM)
  const float power = std::exp2(x);
  return power < 0x1p-126f ? 0.0f : power;
#else
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
#endif
}

// tanh(x), off by 2^-11 of itself; -1 and 1 where it is nearly that. Source: PTX ISA, tanh.approx (sm_75 on).
__device__ __forceinline__ float fast_tanh(float x) {
#if defined(ROOFTILE_SIM)
  return std::tanh(x);
#else
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// 1 / x to 1 unit in the last place; 0 where that is below 2^-126. Source: PTX ISA, rcp.approx.ftz.
__device__ __forceinline__ float fast_reciprocal(float x) {
#if defined(ROOFTILE_SIM)
  const float y = 1 / x;
  return std::fabs(y) < 0x1p-126f ? std::copysign(0.0f, y) : y;
#else
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

}  // namespace rooftile::ROOFTILE_TARGET
