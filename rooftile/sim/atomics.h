// CUDA's atomic functions, for the types that CUDA has. Relaxed, as on the GPU; every 64th of a thread lets
// the others run, because kernels poll with them.
#pragma once

#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "rooftile/sim/alignment.h"
#include "rooftile/sim/bfloat16.h"
#include "rooftile/sim/half.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt {

namespace detail {

// Replaces *address by update(*address) and returns what was there.
template <class T, class Update>
ROOFTILE_SIM_UNWATCHED T atomic_update(T* address, const char* name, std::source_location where,
                                       Update update) {
  using Word = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;
  static_assert(sizeof(Word) == sizeof(T));
  typedef Word Aliasing __attribute__((may_alias));
  may_poll(name, where);
  check_aligned(name, address, sizeof(T), where);
#if defined(ROOFTILE_SIM_CHECKED)
  atomic_begins(address, sizeof(T), __builtin_return_address(0));
#endif
  auto* word = reinterpret_cast<Aliasing*>(address);
  Word expected = __atomic_load_n(word, __ATOMIC_RELAXED);
  Word desired = 0;
  T before;
  do {
    std::memcpy(static_cast<void*>(&before), &expected, sizeof(T));
    const T after = update(before);
    std::memcpy(&desired, &after, sizeof(T));
  } while (!__atomic_compare_exchange_n(word, &expected, desired, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  if (desired != expected) note_progress();
#if defined(ROOFTILE_SIM_CHECKED)
  atomic_ends(address, __builtin_return_address(0));
#endif
  return before;
}

// Wraps on overflow, as the GPU does.
template <class T>
T wrapping_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

}  // namespace detail

// `expression` gives the new value from `old` and `value`.
#define ROOFTILE_SIM_ATOMIC(name, T, expression)                                                     \
  inline T name(T* address, T value, std::source_location where = std::source_location::current()) { \
    return detail::atomic_update(address, #name, where, [value](T old) -> T { return expression; }); \
  }

ROOFTILE_SIM_ATOMIC(atomicAdd, int, detail::wrapping_add(old, value))
ROOFTILE_SIM_ATOMIC(atomicAdd, unsigned, old + value)
ROOFTILE_SIM_ATOMIC(atomicAdd, unsigned long long, old + value)
ROOFTILE_SIM_ATOMIC(atomicAdd, float, old + value)
ROOFTILE_SIM_ATOMIC(atomicAdd, double, old + value)
ROOFTILE_SIM_ATOMIC(atomicAdd, __half, old + value)
ROOFTILE_SIM_ATOMIC(atomicAdd, __half2, old + value)
ROOFTILE_SIM_ATOMIC(atomicAdd, __nv_bfloat16, old + value)
ROOFTILE_SIM_ATOMIC(atomicAdd, __nv_bfloat162, old + value)
ROOFTILE_SIM_ATOMIC(atomicSub, int, detail::wrapping_add(old, detail::wrapping_add(~value, 1)))
ROOFTILE_SIM_ATOMIC(atomicSub, unsigned, old - value)
ROOFTILE_SIM_ATOMIC(atomicMin, int, value < old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicMin, unsigned, value < old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicMin, long long, value < old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicMin, unsigned long long, value < old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicMax, int, value > old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicMax, unsigned, value > old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicMax, long long, value > old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicMax, unsigned long long, value > old ? value : old)
ROOFTILE_SIM_ATOMIC(atomicAnd, int, old& value)
ROOFTILE_SIM_ATOMIC(atomicAnd, unsigned, old& value)
ROOFTILE_SIM_ATOMIC(atomicAnd, unsigned long long, old& value)
ROOFTILE_SIM_ATOMIC(atomicOr, int, old | value)
ROOFTILE_SIM_ATOMIC(atomicOr, unsigned, old | value)
ROOFTILE_SIM_ATOMIC(atomicOr, unsigned long long, old | value)
ROOFTILE_SIM_ATOMIC(atomicXor, int, old ^ value)
ROOFTILE_SIM_ATOMIC(atomicXor, unsigned, old ^ value)
ROOFTILE_SIM_ATOMIC(atomicXor, unsigned long long, old ^ value)
ROOFTILE_SIM_ATOMIC(atomicExch, int, (static_cast<void>(old), value))
ROOFTILE_SIM_ATOMIC(atomicExch, unsigned, (static_cast<void>(old), value))
ROOFTILE_SIM_ATOMIC(atomicExch, unsigned long long, (static_cast<void>(old), value))
ROOFTILE_SIM_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
ROOFTILE_SIM_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
ROOFTILE_SIM_ATOMIC(atomicDec, unsigned, old == 0 || old > value ? value : old - 1u)
#undef ROOFTILE_SIM_ATOMIC

#define ROOFTILE_SIM_ATOMIC_CAS(T)                                                                       \
  inline T atomicCAS(T* address, T compare, T value,                                                     \
                     std::source_location where = std::source_location::current()) {                     \
    return detail::atomic_update(address, "atomicCAS", where,                                            \
                                 [compare, value](T old) -> T { return old == compare ? value : old; }); \
  }
ROOFTILE_SIM_ATOMIC_CAS(int)
ROOFTILE_SIM_ATOMIC_CAS(unsigned)
ROOFTILE_SIM_ATOMIC_CAS(unsigned long long)
ROOFTILE_SIM_ATOMIC_CAS(unsigned short)
#undef ROOFTILE_SIM_ATOMIC_CAS

// Narrower and wider scopes: one coherent host serves them all.
#define ROOFTILE_SIM_ATOMIC_SCOPES(name)                                                               \
  template <class T, class V>                                                                          \
  T name##_block(T* address, V value, std::source_location where = std::source_location::current()) {  \
    return name(address, static_cast<T>(value), where);                                                \
  }                                                                                                    \
  template <class T, class V>                                                                          \
  T name##_system(T* address, V value, std::source_location where = std::source_location::current()) { \
    return name(address, static_cast<T>(value), where);                                                \
  }
ROOFTILE_SIM_ATOMIC_SCOPES(atomicAdd)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicSub)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicMin)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicMax)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicAnd)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicOr)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicXor)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicExch)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicInc)
ROOFTILE_SIM_ATOMIC_SCOPES(atomicDec)
#undef ROOFTILE_SIM_ATOMIC_SCOPES

template <class T, class V, class W>
T atomicCAS_block(T* address, V compare, W value,
                  std::source_location where = std::source_location::current()) {
  return atomicCAS(address, static_cast<T>(compare), static_cast<T>(value), where);
}
template <class T, class V, class W>
T atomicCAS_system(T* address, V compare, W value,
                   std::source_location where = std::source_location::current()) {
  return atomicCAS(address, static_cast<T>(compare), static_cast<T>(value), where);
}

}  // namespace rooftile::simt
