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

// Counts up and returns the old value; from `last` on the counter starts again at 0, so that last + 1 calls
// leave it as they found it. What this thread wrote, or saw behind a barrier, is visible to who counts later,
// and what those wrote who counted before is visible here: one instruction in place of an atomic between two
// fences.
inline std::uint32_t fetch_inc_acq_rel(std::uint32_t* address, std::uint32_t last) {
  std::uint32_t old = __atomic_load_n(address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(address, &old, old >= last ? 0 : old + 1, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {
  }
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

// Counts up and returns the old value; from `last` on the counter starts again at 0, so that last + 1 calls
// leave it as they found it. What this thread wrote, or saw behind a barrier, is visible to who counts later,
// and what those wrote who counted before is visible here: one instruction in place of an atomic between two
// fences. Source: PTX ISA, atom.acq_rel.gpu.inc.
__device__ __forceinline__ std::uint32_t fetch_inc_acq_rel(std::uint32_t* address, std::uint32_t last) {
  std::uint32_t old;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(address), "r"(last)
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
