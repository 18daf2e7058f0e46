// cuda::atomic_ref and cuda::atomic.
#pragma once

#include <cstddef>
#include <source_location>
#include <type_traits>

#include "rooftile/sim/libcu/atomic_access.h"
#include "rooftile/sim/libcu/scope.h"

namespace rooftile::simt::libcu {

namespace atomic_detail {

// What a sum, a difference and so on count in: of a pointer elements.
template <class T>
using Difference = std::conditional_t<std::is_pointer_v<T>, std::ptrdiff_t, T>;

// Wraps on overflow, as the GPU does.
template <class T, class D>
T sum(T a, D b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}
template <class T, class D>
T difference(T a, D b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
  } else {
    return a - b;
  }
}

// Operations on the value that Self::address() names.
template <class Self, class T>
class Operations {
 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;
  [[nodiscard]] static constexpr bool is_lock_free() { return true; }

#define ROOFTILE_LIBCU_INLINE __attribute__((always_inline)) inline
#define ROOFTILE_LIBCU_ORDER                           \
  std::memory_order order = std::memory_order_seq_cst, \
                    std::source_location where = std::source_location::current()

  ROOFTILE_LIBCU_INLINE T load(ROOFTILE_LIBCU_ORDER) const {
    return detail::atomic_load(at(), {"cuda::atomic::load", order, where});
  }
  ROOFTILE_LIBCU_INLINE void store(T value, ROOFTILE_LIBCU_ORDER) const {
    detail::atomic_store(at(), value, {"cuda::atomic::store", order, where});
  }
  ROOFTILE_LIBCU_INLINE T exchange(T value, ROOFTILE_LIBCU_ORDER) const {
    return detail::atomic_modify(at(), {"cuda::atomic::exchange", order, where},
                                 [value](T) { return value; });
  }
  ROOFTILE_LIBCU_INLINE bool compare_exchange_strong(T& expected, T desired, ROOFTILE_LIBCU_ORDER) const {
    return detail::atomic_replace(at(), expected, desired, {"cuda::atomic::compare_exchange", order, where});
  }
  // A failure's order is a part of the success's here.
  ROOFTILE_LIBCU_INLINE bool compare_exchange_strong(
      T& expected, T desired, std::memory_order success, std::memory_order,
      std::source_location where = std::source_location::current()) const {
    return compare_exchange_strong(expected, desired, success, where);
  }
  ROOFTILE_LIBCU_INLINE bool compare_exchange_weak(T& expected, T desired, ROOFTILE_LIBCU_ORDER) const {
    return compare_exchange_strong(expected, desired, order, where);
  }
  ROOFTILE_LIBCU_INLINE bool compare_exchange_weak(
      T& expected, T desired, std::memory_order success, std::memory_order,
      std::source_location where = std::source_location::current()) const {
    return compare_exchange_strong(expected, desired, success, where);
  }

#define ROOFTILE_LIBCU_FETCH(name, V, expression)                                             \
  ROOFTILE_LIBCU_INLINE T name(V value, ROOFTILE_LIBCU_ORDER) const {                         \
    return detail::atomic_modify(at(), {"cuda::atomic::" #name, order, where},                \
                                 [value](T old) -> T { return static_cast<T>(expression); }); \
  }
  ROOFTILE_LIBCU_FETCH(fetch_add, Difference<T>, sum(old, value))
  ROOFTILE_LIBCU_FETCH(fetch_sub, Difference<T>, difference(old, value))
  ROOFTILE_LIBCU_FETCH(fetch_and, T, old& value)
  ROOFTILE_LIBCU_FETCH(fetch_or, T, old | value)
  ROOFTILE_LIBCU_FETCH(fetch_xor, T, old ^ value)
  ROOFTILE_LIBCU_FETCH(fetch_min, T, value < old ? value : old)
  ROOFTILE_LIBCU_FETCH(fetch_max, T, old < value ? value : old)
#undef ROOFTILE_LIBCU_FETCH

  // Returns when the value is another one.
  ROOFTILE_LIBCU_INLINE void wait(T old, ROOFTILE_LIBCU_ORDER) const {
    while (load(order, where) == old) detail::poll("cuda::atomic::wait", where);
  }
  void notify_one() const {}  // who waits looks again anyway
  void notify_all() const {}

  ROOFTILE_LIBCU_INLINE operator T() const { return load(); }  // NOLINT(google-explicit-constructor)
  ROOFTILE_LIBCU_INLINE T operator=(T value) const {           // NOLINT: the value, as the standard's
    store(value);
    return value;
  }
  ROOFTILE_LIBCU_INLINE T operator++() const { return sum(fetch_add(1), 1); }
  ROOFTILE_LIBCU_INLINE T operator++(int) const { return fetch_add(1); }
  ROOFTILE_LIBCU_INLINE T operator--() const { return difference(fetch_sub(1), 1); }
  ROOFTILE_LIBCU_INLINE T operator--(int) const { return fetch_sub(1); }
  ROOFTILE_LIBCU_INLINE T operator+=(Difference<T> value) const { return sum(fetch_add(value), value); }
  ROOFTILE_LIBCU_INLINE T operator-=(Difference<T> value) const {
    return difference(fetch_sub(value), value);
  }
  ROOFTILE_LIBCU_INLINE T operator&=(T value) const { return static_cast<T>(fetch_and(value) & value); }
  ROOFTILE_LIBCU_INLINE T operator|=(T value) const { return static_cast<T>(fetch_or(value) | value); }
  ROOFTILE_LIBCU_INLINE T operator^=(T value) const { return static_cast<T>(fetch_xor(value) ^ value); }

 private:
  friend Self;
  constexpr Operations() = default;
  ROOFTILE_LIBCU_INLINE T* at() const { return static_cast<const Self*>(this)->address(); }
};

}  // namespace atomic_detail

// Of a value that ordinary code made: every access of it is atomic meanwhile.
template <class T, thread_scope kScope = thread_scope_system>
class atomic_ref : public atomic_detail::Operations<atomic_ref<T, kScope>, T> {
  using Base = atomic_detail::Operations<atomic_ref, T>;

 public:
  static constexpr std::size_t required_alignment = sizeof(T);

  constexpr explicit atomic_ref(T& value) : value_(&value) {}
  constexpr atomic_ref(const atomic_ref&) = default;
  atomic_ref& operator=(const atomic_ref&) = delete;
  using Base::operator=;

 private:
  friend Base;
  ROOFTILE_LIBCU_INLINE T* address() const { return value_; }
  T* value_;
};
template <class T>
atomic_ref(T&) -> atomic_ref<T>;

template <class T, thread_scope kScope = thread_scope_system>
class atomic : public atomic_detail::Operations<atomic<T, kScope>, T> {
  using Base = atomic_detail::Operations<atomic, T>;

 public:
  atomic() = default;                           // and nothing: in shared memory no constructor runs
  constexpr atomic(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  using Base::operator=;

 private:
  friend Base;
  ROOFTILE_LIBCU_INLINE T* address() const { return &value_; }
  alignas(sizeof(T)) mutable T value_;
};

ROOFTILE_LIBCU_INLINE void atomic_thread_fence(std::memory_order order, thread_scope = thread_scope_system) {
  if (order != std::memory_order_relaxed) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#undef ROOFTILE_LIBCU_ORDER
#undef ROOFTILE_LIBCU_INLINE

}  // namespace rooftile::simt::libcu
