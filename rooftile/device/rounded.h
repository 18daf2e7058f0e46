// Between f32, in which operators compute, and the 16-bit floats that they read and write.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/device/types.h"
#include "rooftile/device/vec.h"

namespace rooftile::ROOFTILE_TARGET {

// Rounds once, to nearest even. T: float, __half or __nv_bfloat16.
template <class T>
__device__ __forceinline__ T rounded(float value) {
  if constexpr (std::is_same_v<T, __half>) {
    return __float2half_rn(value);
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return __float2bfloat16_rn(value);
  } else {
    return value;
  }
}

// Of bf16 two at a time, whose bits are the upper ones of a float: a shift for one, a mask for the other. One by one nvcc takes three
// instructions for two.
template <class T, int kCount>
__device__ __forceinline__ Vec<float, kCount> as_floats(const Vec<T, kCount>& vec) {
  Vec<float, kCount> v;
  if constexpr (std::is_same_v<T, __nv_bfloat16> && kCount % 2 == 0) {
    std::uint32_t pairs[kCount / 2];
    memcpy(pairs, static_cast<const void*>(&vec), sizeof(pairs));
#pragma unroll
    for (int p = 0; p < kCount / 2; ++p) {
      v[2 * p] = std::bit_cast<float>(pairs[p] << 16);
      v[2 * p + 1] = std::bit_cast<float>(pairs[p] & 0xffff0000u);
    }
  } else {
#pragma unroll
    for (int e = 0; e < kCount; ++e) v[e] = static_cast<float>(vec[e]);
  }
  return v;
}

}  // namespace rooftile::ROOFTILE_TARGET
