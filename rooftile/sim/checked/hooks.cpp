// What instrumented kernels call: the names of ThreadSanitizer's runtime, of the coverage and bounds
// callbacks, and nothing of those runtimes themselves. g++ emits the calls (-fsanitize=thread at compile
// time); this file is compiled without. Source: gcc/sanitizer.def; compiler-rt/lib/tsan/rtl/tsan_interface.h.
#include <atomic>
#include <cstdint>
#include <string>

#include "rooftile/sim/checked/checker.h"

namespace rooftile::simt {
namespace checked {
namespace {

std::atomic<std::uint64_t> g_unwatched_calls{0};

__attribute__((always_inline)) inline void on_access(const void* address, unsigned bytes, AccessKind kind,
                                                     const void* pc, const void* frame) {
  if (Checker* checker = current_checker; checker != nullptr) [[likely]] {
    checker->access(reinterpret_cast<std::uintptr_t>(address), bytes, kind, pc, frame);
  } else {
    g_unwatched_calls.fetch_add(1, std::memory_order_relaxed);
  }
}

Checker::Order order_of(int order) {
  switch (order) {
    case __ATOMIC_RELAXED:
      return Checker::Order::relaxed;
    case __ATOMIC_CONSUME:
    case __ATOMIC_ACQUIRE:
      return Checker::Order::acquire;
    case __ATOMIC_RELEASE:
      return Checker::Order::release;
    default:
      return Checker::Order::both;
  }
}

// An atomic operation before it happens: releases first, so that who sees its value sees what came before.
void on_atomic(const volatile void* address, unsigned bytes, AccessKind kind, int order, const void* pc,
               const void* frame) {
  const void* place = const_cast<const void*>(address);
  Checker* checker = current_checker;
  if (checker == nullptr || detail::current_thread == nullptr) return;
  checker->access(reinterpret_cast<std::uintptr_t>(place), bytes, kind, pc, frame);
  checker->atomic_order(reinterpret_cast<std::uintptr_t>(place), order_of(order), kind != AccessKind::store,
                        kind != AccessKind::load, pc);
}

}  // namespace

std::uint64_t instrumentation_calls() { return g_unwatched_calls.load(); }

}  // namespace checked

namespace detail {

void watch_atomic(const void* address, unsigned bytes, const void* pc) {
  checked::on_atomic(address, bytes, checked::AccessKind::atomic, __ATOMIC_RELAXED, pc,
                     __builtin_frame_address(0));
}

}  // namespace detail
}  // namespace rooftile::simt

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler's names
using rooftile::simt::checked::AccessKind;
using rooftile::simt::checked::current_checker;
using rooftile::simt::checked::on_access;
using rooftile::simt::checked::on_atomic;

#define ROOFTILE_HOOK_PLACE __builtin_return_address(0), __builtin_frame_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

#define ROOFTILE_HOOK(name, bytes, kind) \
  void name(const void* address) { on_access(address, bytes, AccessKind::kind, ROOFTILE_HOOK_PLACE); }
#define ROOFTILE_HOOKS(bytes)                                \
  ROOFTILE_HOOK(__tsan_read##bytes, bytes, load)             \
  ROOFTILE_HOOK(__tsan_write##bytes, bytes, store)           \
  ROOFTILE_HOOK(__tsan_unaligned_read##bytes, bytes, load)   \
  ROOFTILE_HOOK(__tsan_unaligned_write##bytes, bytes, store) \
  ROOFTILE_HOOK(__tsan_volatile_read##bytes, bytes, load)    \
  ROOFTILE_HOOK(__tsan_volatile_write##bytes, bytes, store)
ROOFTILE_HOOKS(1)
ROOFTILE_HOOKS(2)
ROOFTILE_HOOKS(4)
ROOFTILE_HOOKS(8)
ROOFTILE_HOOKS(16)
#undef ROOFTILE_HOOKS
#undef ROOFTILE_HOOK

// Aggregates: the widest access of one thread is 16 bytes.
static void on_range(const void* address, unsigned long bytes, AccessKind kind, const void* pc,
                     const void* frame) {
  constexpr unsigned long kWidest = 16;
  for (unsigned long at = 0; at < bytes; at += kWidest) {
    const unsigned long rest = bytes - at;
    on_access(static_cast<const char*>(address) + at, static_cast<unsigned>(rest < kWidest ? rest : kWidest),
              kind, pc, frame);
  }
}
void __tsan_read_range(const void* address, unsigned long bytes) {
  on_range(address, bytes, AccessKind::load, ROOFTILE_HOOK_PLACE);
}
void __tsan_write_range(const void* address, unsigned long bytes) {
  on_range(address, bytes, AccessKind::store, ROOFTILE_HOOK_PLACE);
}

// Atomics that kernels write as the compiler's builtins.
#define ROOFTILE_HOOK_UPDATE(bits, T, name)                                       \
  T __tsan_atomic##bits##_##name(volatile T* address, T value, int order) {       \
    on_atomic(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE); \
    return __atomic_##name(address, value, __ATOMIC_SEQ_CST);                     \
  }
#define ROOFTILE_HOOK_ATOMICS(bits, T)                                                                       \
  T __tsan_atomic##bits##_load(const volatile T* address, int order) {                                       \
    on_atomic(address, bits / 8, AccessKind::load, order, ROOFTILE_HOOK_PLACE);                              \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  void __tsan_atomic##bits##_store(volatile T* address, T value, int order) {                                \
    on_atomic(address, bits / 8, AccessKind::store, order, ROOFTILE_HOOK_PLACE);                             \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  T __tsan_atomic##bits##_exchange(volatile T* address, T value, int order) {                                \
    on_atomic(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE);                            \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* address, T* expected, T value, int order,    \
                                                    int) {                                                   \
    on_atomic(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE);                            \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* address, T* expected, T value, int order,      \
                                                  int) {                                                     \
    on_atomic(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE);                            \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  ROOFTILE_HOOK_UPDATE(bits, T, fetch_add)                                                                   \
  ROOFTILE_HOOK_UPDATE(bits, T, fetch_sub)                                                                   \
  ROOFTILE_HOOK_UPDATE(bits, T, fetch_and)                                                                   \
  ROOFTILE_HOOK_UPDATE(bits, T, fetch_or)                                                                    \
  ROOFTILE_HOOK_UPDATE(bits, T, fetch_xor)                                                                   \
  ROOFTILE_HOOK_UPDATE(bits, T, fetch_nand)
ROOFTILE_HOOK_ATOMICS(8, std::uint8_t)
ROOFTILE_HOOK_ATOMICS(16, std::uint16_t)
ROOFTILE_HOOK_ATOMICS(32, std::uint32_t)
ROOFTILE_HOOK_ATOMICS(64, std::uint64_t)
#undef ROOFTILE_HOOK_ATOMICS
#undef ROOFTILE_HOOK_UPDATE

void __tsan_atomic_thread_fence(int) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (current_checker != nullptr && rooftile::simt::detail::current_thread != nullptr) {
    current_checker->fence(__builtin_return_address(0));
  }
}
void __tsan_atomic_signal_fence(int) {}

void __sanitizer_cov_trace_pc() {
  if (current_checker != nullptr) [[likely]]
    current_checker->basic_block(__builtin_return_address(0), __builtin_frame_address(0));
}

#if !ROOFTILE_SIM_ASAN  // that build has UBSan's own, and no checked kernels
// -fsanitize=bounds: an index outside of an array whose size the type says. The layout is UBSan's
// (compiler-rt/lib/ubsan/ubsan_handlers.h).
struct UbsanType {
  std::uint16_t kind;
  std::uint16_t info;
  char name[1];
};
struct UbsanOutOfBounds {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
  const UbsanType* array_type;
  const UbsanType* index_type;
};
void __ubsan_handle_out_of_bounds(UbsanOutOfBounds* data, std::uintptr_t index) {
  if (current_checker == nullptr || rooftile::simt::detail::current_thread == nullptr) return;
  current_checker->index_out_of_bounds(data->file, data->line,
                                       "uses index " + std::to_string(static_cast<std::intptr_t>(index)) +
                                           " of an array " + data->array_type->name);
}
#endif

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
