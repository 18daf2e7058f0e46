// One atomic operation on a value in memory, with its memory order told to the watcher. Every 64th of a
// thread lets the others run: kernels poll with them.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "rooftile/sim/alignment.h"
#include "rooftile/sim/thread.h"

namespace rooftile::simt::detail {

template <class T>
struct AtomicWord {
  static_assert(std::is_trivially_copyable_v<T> &&
                    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8),
                "atomics are of 1, 2, 4 or 8 bytes");
  using Word =
      std::conditional_t<sizeof(T) == 8, std::uint64_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t,
                                            std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;
  typedef Word Aliasing __attribute__((may_alias));
};

struct OrderedAtomic {
  const char* name;
  std::memory_order order;
  std::source_location where;
};

// Calls body(word) for the atomic's memory; `pc` is the kernel's.
template <class T, class Body>
ROOFTILE_SIM_UNWATCHED __attribute__((always_inline)) inline auto ordered_access(
    const T* address, const OrderedAtomic& atomic, [[maybe_unused]] AtomicKind kind,
    [[maybe_unused]] const void* pc, Body&& body) {
  may_poll(atomic.name, atomic.where);
  check_aligned(atomic.name, address, sizeof(T), atomic.where);
#if defined(ROOFTILE_SIM_CHECKED)
  const AtomicAccess access{address, sizeof(T), kind, static_cast<int>(atomic.order), pc};
  atomic_begins(access);
#endif
  using Aliasing = typename AtomicWord<T>::Aliasing;
  auto result = body(reinterpret_cast<Aliasing*>(const_cast<T*>(address)));
#if defined(ROOFTILE_SIM_CHECKED)
  atomic_ends(access);
#endif
  return result;
}

template <class T>
ROOFTILE_SIM_UNWATCHED T atomic_load(const T* address, const OrderedAtomic& atomic) {
  const auto word =
      ordered_access(address, atomic, AtomicKind::load, __builtin_return_address(0),
                     [](auto* at) ROOFTILE_SIM_UNWATCHED { return __atomic_load_n(at, __ATOMIC_SEQ_CST); });
  T value;
  std::memcpy(static_cast<void*>(&value), &word, sizeof(T));
  return value;
}

template <class T>
ROOFTILE_SIM_UNWATCHED void atomic_store(T* address, T value, const OrderedAtomic& atomic) {
  typename AtomicWord<T>::Word word;
  std::memcpy(&word, &value, sizeof(T));
  ordered_access(address, atomic, AtomicKind::store, __builtin_return_address(0),
                 [word](auto* at) ROOFTILE_SIM_UNWATCHED {
                   __atomic_store_n(at, word, __ATOMIC_SEQ_CST);
                   return 0;
                 });
  note_progress();
}

// Replaces the value by update(value) and returns what was there.
template <class T, class Update>
ROOFTILE_SIM_UNWATCHED T atomic_modify(T* address, const OrderedAtomic& atomic, Update update) {
  using Word = typename AtomicWord<T>::Word;
  T before;
  ordered_access(
      address, atomic, AtomicKind::update, __builtin_return_address(0), [&](auto* at) ROOFTILE_SIM_UNWATCHED {
        Word expected = __atomic_load_n(at, __ATOMIC_RELAXED);
        Word desired = 0;
        do {
          std::memcpy(static_cast<void*>(&before), &expected, sizeof(T));
          const T after = update(before);
          std::memcpy(&desired, &after, sizeof(T));
        } while (
            !__atomic_compare_exchange_n(at, &expected, desired, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
        if (desired != expected) note_progress();
        return 0;
      });
  return before;
}

// Stores `desired` where `expected` is, bit for bit; else `expected` becomes what is there.
template <class T>
ROOFTILE_SIM_UNWATCHED bool atomic_replace(T* address, T& expected, T desired, const OrderedAtomic& atomic) {
  using Word = typename AtomicWord<T>::Word;
  Word before;
  Word after;
  std::memcpy(&before, &expected, sizeof(T));
  std::memcpy(&after, &desired, sizeof(T));
  const bool done = ordered_access(
      address, atomic, AtomicKind::update, __builtin_return_address(0), [&](auto* at) ROOFTILE_SIM_UNWATCHED {
        return __atomic_compare_exchange_n(at, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
      });
  if (done) note_progress();
  std::memcpy(static_cast<void*>(&expected), &before, sizeof(T));
  return done;
}

}  // namespace rooftile::simt::detail
