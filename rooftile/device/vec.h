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

enum class LoadPolicy {
  cached,       // through L1, as any load
  no_allocate,  // read-only data that is used once: leaves L1 to others
};

// 16 bytes by one access. `g_source` is aligned to 16 bytes; with no_allocate nobody writes it during the
// kernel. Source: PTX ISA, ld.global.nc.L1::no_allocate (sm_70 and newer).
template <LoadPolicy kPolicy>
__device__ __forceinline__ uint4 load_16_bytes(const void* g_source) {
#if !defined(ROOFTILE_SIM)
  if constexpr (kPolicy == LoadPolicy::no_allocate) {
    uint4 raw;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(raw.x), "=r"(raw.y), "=r"(raw.z), "=r"(raw.w)
                 : "l"(g_source));
    return raw;
  }
#endif
  return *static_cast<const uint4*>(g_source);
}

// A whole vector by one access.
template <LoadPolicy kPolicy = LoadPolicy::cached, class T>
__device__ __forceinline__ Vec<T, kVecElements<T>> load_vec(const T* g_source) {
  const uint4 raw = load_16_bytes<kPolicy>(g_source);
  Vec<T, kVecElements<T>> vec;
  memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
  return vec;
}

// The elements in front of the first 16-byte boundary, at most n of them.
template <class T>
__device__ __forceinline__ std::int64_t elements_to_alignment(const T* pointer, std::int64_t n) {
  const auto misalignment = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(pointer) % kVecBytes);
  const std::int64_t head =
      misalignment == 0 ? 0 : (kVecBytes - misalignment) / static_cast<std::int64_t>(sizeof(T));
  return head < n ? head : n;
}

}  // namespace rooftile::ROOFTILE_TARGET
