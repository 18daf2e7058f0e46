// Waiting for another thread or block through memory: acquire and release,
// and the loops around them. Spin only with these: the simulated SM does
// not preempt, and a plain load in a loop would never let the writer run.
//
// Waiting for a block with a smaller index makes progress on
// every target; for a later one only in a cooperative launch.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/caller.h"
#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

template <class T>
inline constexpr bool kPollable = std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

// Who the two sides may be: threads of one block, of one cluster (sm_90), of one GPU, or of the whole system,
// the host and other GPUs included. The narrower, the cheaper.
enum class Scope { cta, cluster, gpu, sys };

#if !defined(ROOFTILE_SIM)
// asm(text with SCOPE replaced by the scope's name, ...)
#define ROOFTILE_ASM_IN_SCOPE(before, after, ...)      \
  if constexpr (kScope == Scope::cta) {                \
    asm volatile(before ".cta" after __VA_ARGS__);     \
  } else if constexpr (kScope == Scope::cluster) {     \
    asm volatile(before ".cluster" after __VA_ARGS__); \
  } else if constexpr (kScope == Scope::gpu) {         \
    asm volatile(before ".gpu" after __VA_ARGS__);     \
  } else {                                             \
    asm volatile(before ".sys" after __VA_ARGS__);     \
  }
#endif

// What the writer wrote before its st_release is visible after the load that saw the released value. Source:
// PTX ISA, ld.acquire, and its memory consistency model.
template <Scope kScope = Scope::gpu, class T>
__device__ __forceinline__ T ld_acquire(const T* address ROOFTILE_AND_CALLER) {
  static_assert(kPollable<T>, "32- and 64-bit integers");
#if defined(ROOFTILE_SIM)
  detail::may_poll("ld_acquire", where);
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
#else
  if constexpr (sizeof(T) == 4) {
    std::uint32_t value;
    ROOFTILE_ASM_IN_SCOPE("ld.acquire", ".u32 %0, [%1];", : "=r"(value) : "l"(address) : "memory")
    return static_cast<T>(value);
  } else {
    std::uint64_t value;
    ROOFTILE_ASM_IN_SCOPE("ld.acquire", ".u64 %0, [%1];", : "=l"(value) : "l"(address) : "memory")
    return static_cast<T>(value);
  }
#endif
}

// Source: PTX ISA, st.release.
template <Scope kScope = Scope::gpu, class T>
__device__ __forceinline__ void st_release(T* address, std::type_identity_t<T> value) {
  static_assert(kPollable<T>, "32- and 64-bit integers");
#if defined(ROOFTILE_SIM)
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
  detail::note_progress();
#else
  if constexpr (sizeof(T) == 4) {
    ROOFTILE_ASM_IN_SCOPE("st.release", ".u32 [%0], %1;",
                          :
                          : "l"(address), "r"(static_cast<std::uint32_t>(value))
                          : "memory")
  } else {
    ROOFTILE_ASM_IN_SCOPE("st.release", ".u64 [%0], %1;",
                          :
                          : "l"(address), "l"(static_cast<std::uint64_t>(value))
                          : "memory")
  }
#endif
}

// Counts up and returns the old value; from `last` on the counter starts again at 0, so that last + 1 calls
// leave it as they found it. What this thread wrote, or saw behind a barrier, is visible to who counts later,
// and what those wrote who counted before is visible here: one instruction in place of an atomic between two
// fences. In global memory. Source: PTX ISA, atom.acq_rel.inc.
template <Scope kScope = Scope::gpu>
__device__ __forceinline__ std::uint32_t fetch_inc_acq_rel(std::uint32_t* g_address, std::uint32_t last) {
#if defined(ROOFTILE_SIM)
  std::uint32_t old = __atomic_load_n(g_address, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(g_address, &old, old >= last ? 0 : old + 1, false, __ATOMIC_ACQ_REL,
                                      __ATOMIC_RELAXED)) {
  }
  detail::note_progress();
  return old;
#else
  std::uint32_t old;
  ROOFTILE_ASM_IN_SCOPE("atom.acq_rel", ".global.inc.u32 %0, [%1], %2;",
                        : "=r"(old)
                        : "l"(g_address), "r"(last)
                        : "memory")
  return old;
#endif
}

#undef ROOFTILE_ASM_IN_SCOPE

// Inside a loop that waits.
__device__ __forceinline__ void spin_hint(ROOFTILE_CALLER) {
#if defined(ROOFTILE_SIM)
  detail::poll("spin_hint", where);
#else
  __nanosleep(20);
#endif
}

// Waits until `done(value)` of what is at the address; returns that
// value. What its writer wrote before the st_release is visible.
template <Scope kScope = Scope::gpu, class T, class Done>
__device__ __forceinline__ T wait_until(const T* address, Done done ROOFTILE_AND_CALLER) {
  for (;;) {
    const T value = ld_acquire<kScope>(address ROOFTILE_AND_HERE);
    if (done(value)) return value;
    spin_hint(ROOFTILE_HERE);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET
