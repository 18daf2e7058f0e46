// Waiting for another thread or block through memory. Spin only with these: the simulated SM does not
// preempt, and a plain load in a loop would never let the writer run.
//
// Waiting for a block with a smaller index makes progress on every target; for a later one only in a
// cooperative launch.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include <source_location>
#endif

namespace rooftile::ROOFTILE_TARGET {

template <class T>
inline constexpr bool kPollable = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

#if defined(ROOFTILE_SIM)

// What the writer wrote before its st_release is visible after the load that saw the released value.
template <class T>
inline T ld_acquire(const T* address, std::source_location where = std::source_location::current()) {
  static_assert(kPollable<T>, "32- and 64-bit integers");
  detail::may_poll("ld_acquire", where);
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}

template <class T>
inline void st_release(T* address, std::type_identity_t<T> value) {
  static_assert(kPollable<T>, "32- and 64-bit integers");
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
  detail::note_progress();
}

// Adds and returns the old value: what this thread wrote, or saw behind a barrier, is visible to who adds
// later, and what those wrote who added before is visible here. One instruction in place of an atomic between
// two fences.
inline std::uint32_t fetch_add_acq_rel(std::uint32_t* address, std::uint32_t value) {
  const std::uint32_t old = __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
  detail::note_progress();
  return old;
}

// Inside a loop that waits.
inline void spin_hint(std::source_location where = std::source_location::current()) {
  detail::poll("spin_hint", where);
}

#else

// What the writer wrote before its st_release is visible after the load that saw the released value.
template <class T>
__device__ __forceinline__ T ld_acquire(const T* address) {
  static_assert(kPollable<T>, "32- and 64-bit integers");
  if constexpr (sizeof(T) == 4) {
    std::uint32_t value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
    return static_cast<T>(value);
  } else {
    std::uint64_t value;
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
    return static_cast<T>(value);
  }
}

// Adds and returns the old value: what this thread wrote, or saw behind a barrier, is visible to who adds
// later, and what those wrote who added before is visible here. One instruction in place of an atomic between
// two fences. Source: PTX ISA, atom.acq_rel.gpu.
__device__ __forceinline__ std::uint32_t fetch_add_acq_rel(std::uint32_t* address, std::uint32_t value) {
  std::uint32_t old;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(value)
               : "memory");
  return old;
}

template <class T>
__device__ __forceinline__ void st_release(T* address, std::type_identity_t<T> value) {
  static_assert(kPollable<T>, "32- and 64-bit integers");
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.release.gpu.u32 [%0], %1;"
                 :
                 : "l"(address), "r"(static_cast<std::uint32_t>(value))
                 : "memory");
  } else {
    asm volatile("st.release.gpu.u64 [%0], %1;"
                 :
                 : "l"(address), "l"(static_cast<std::uint64_t>(value))
                 : "memory");
  }
}

// Inside a loop that waits.
__device__ __forceinline__ void spin_hint() { __nanosleep(20); }

#endif

}  // namespace rooftile::ROOFTILE_TARGET
