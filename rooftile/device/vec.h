// Vector loads: one instruction for up to 16 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

// kCount elements of T in registers, loaded and stored as one access.
template <class T, int kCount>
struct Vec {
  T values[kCount];
  __device__ __forceinline__ const T& operator[](int i) const { return values[i]; }
  __device__ __forceinline__ T& operator[](int i) { return values[i]; }
};

inline constexpr int kVecBytes = 16;  // the widest access of one thread (sm_50 to sm_90)
template <class T>
inline constexpr int kVecElements = kVecBytes / static_cast<int>(sizeof(T));

// A whole 16-byte vector by one access. `g_source` is aligned to 16 bytes.
template <class T>
__device__ __forceinline__ Vec<T, kVecElements<T>> load_vec(const T* g_source) {
  const uint4 raw = *reinterpret_cast<const uint4*>(g_source);
  Vec<T, kVecElements<T>> vec;
  memcpy(&vec, &raw, sizeof(vec));
  return vec;
}

// The elements in front of the first 16-byte boundary, at most n of them.
template <class T>
__device__ __forceinline__ std::int64_t elements_to_alignment(const T* pointer, std::int64_t n) {
  const auto misalignment = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer) % kVecBytes);
  const std::int64_t head = misalignment == 0 ? 0 : (kVecBytes - misalignment) / static_cast<std::int64_t>(sizeof(T));
  return head < n ? head : n;
}

}  // namespace rooftile::ROOFTILE_TARGET
