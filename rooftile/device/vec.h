// Loads and stores of global memory: one access of 1, 2, 4, 8 or 16 bytes, with a cache policy.
//
// The address is a multiple of the access; the simulated SM
// ends the launch where it is not, with the line that asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/device/caller.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/alignment.h"
#else
#include "rooftile/device/cuda_vec.h"
#endif

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
  streaming,    // used once: first to leave L1 and L2 (ld.cs)
  evict_first,  // the same, said to each cache by itself: L1 by its priority, L2 by a policy (sm_80)
  no_allocate,  // read-only data that is used once: leaves L1 to others (ld.nc; nobody writes it meanwhile)
};

enum class StorePolicy {
  cached,       // as any store
  streaming,    // not read again soon: first to leave (st.cs)
  no_allocate,  // leaves L1 to others
};

// The register type of one access.
template <int kBytes>
struct AccessOf;
template <>
struct AccessOf<1> {
  using type = std::uint8_t;
};
template <>
struct AccessOf<2> {
  using type = std::uint16_t;
};
template <>
struct AccessOf<4> {
  using type = std::uint32_t;
};
template <>
struct AccessOf<8> {
  using type = uint2;
};
template <>
struct AccessOf<16> {
  using type = uint4;
};
template <int kBytes>
using Access = typename AccessOf<kBytes>::type;

// kBytes by one access. With no_allocate nobody writes them during the kernel.
template <int kBytes, LoadPolicy kPolicy = LoadPolicy::cached>
__device__ __forceinline__ Access<kBytes> load_bytes(const void* g_source ROOFTILE_AND_CALLER) {
#if defined(ROOFTILE_SIM)
  detail::check_aligned("a load", g_source, kBytes, where);
  Access<kBytes> raw;
  detail::copy_access<kBytes>(&raw, g_source);
  return raw;
#else
  if constexpr (kPolicy == LoadPolicy::streaming) {
    return detail::load_streaming<kBytes>(g_source);
  } else if constexpr (kPolicy == LoadPolicy::evict_first) {
    return detail::load_evict_first<kBytes>(g_source);
  } else if constexpr (kPolicy == LoadPolicy::no_allocate) {
    return detail::load_no_allocate<kBytes>(g_source);
  } else {
    return *static_cast<const Access<kBytes>*>(g_source);
  }
#endif
}

template <int kBytes, StorePolicy kPolicy = StorePolicy::cached>
__device__ __forceinline__ void store_bytes(void* g_target, Access<kBytes> raw ROOFTILE_AND_CALLER) {
#if defined(ROOFTILE_SIM)
  detail::check_aligned("a store", g_target, kBytes, where);
  detail::copy_access<kBytes>(g_target, &raw);
#else
  if constexpr (kPolicy == StorePolicy::streaming) {
    detail::store_streaming(g_target, raw);
  } else if constexpr (kPolicy == StorePolicy::no_allocate) {
    detail::store_no_allocate(g_target, raw);
  } else {
    *static_cast<Access<kBytes>*>(g_target) = raw;
  }
#endif
}

// One element of 1, 2, 4, 8 or 16 bytes.
template <LoadPolicy kPolicy = LoadPolicy::cached, class T>
__device__ __forceinline__ T load(const T* g_source ROOFTILE_AND_CALLER) {
  static_assert(std::is_trivially_copyable_v<T>, "loaded as bytes");
  const auto raw = load_bytes<sizeof(T), kPolicy>(g_source ROOFTILE_AND_HERE);
  T value;
  memcpy(static_cast<void*>(&value), &raw, sizeof(T));
  return value;
}

template <StorePolicy kPolicy = StorePolicy::cached, class T>
__device__ __forceinline__ void store(T* g_target, std::type_identity_t<T> value ROOFTILE_AND_CALLER) {
  static_assert(std::is_trivially_copyable_v<T>, "stored as bytes");
  Access<sizeof(T)> raw;
  memcpy(static_cast<void*>(&raw), &value, sizeof(T));
  store_bytes<sizeof(T), kPolicy>(g_target, raw ROOFTILE_AND_HERE);
}

// A vector of kBytes by one access: load_vec(p) 16 bytes, load_vec<LoadPolicy::streaming, 8>(p) 8.
template <LoadPolicy kPolicy = LoadPolicy::cached, int kBytes = kVecBytes, class T>
__device__ __forceinline__ Vec<T, kBytes / static_cast<int>(sizeof(T))> load_vec(
    const T* g_source ROOFTILE_AND_CALLER) {
  static_assert(kBytes % sizeof(T) == 0, "whole elements");
  const auto raw = load_bytes<kBytes, kPolicy>(g_source ROOFTILE_AND_HERE);
  Vec<T, kBytes / static_cast<int>(sizeof(T))> vec;
  memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
  return vec;
}

template <StorePolicy kPolicy = StorePolicy::cached, class T, int kCount>
__device__ __forceinline__ void store_vec(T* g_target, const Vec<T, kCount>& vec ROOFTILE_AND_CALLER) {
  Access<sizeof(vec)> raw;
  memcpy(static_cast<void*>(&raw), &vec, sizeof(vec));
  store_bytes<sizeof(vec), kPolicy>(g_target, raw ROOFTILE_AND_HERE);
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
