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
                                                     const void* pc, const void* frame,
                                                     bool of_struct = false) {
  if (Checker* checker = current_checker; checker != nullptr) [[likely]] {
    // Most accesses are of the kernel's own frame, or of one near to it.
    const auto depth = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(frame);
    if (depth < detail::kStackGuardBytes) {
      checker->note_local_access(kind);
      if (checker->watches_registers()) [[unlikely]]
        checker->access_registers(reinterpret_cast<std::uintptr_t>(address), bytes, kind, pc);
      return;
    }
    checker->access({reinterpret_cast<std::uintptr_t>(address), bytes, kind, false, pc, frame, of_struct});
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

// Whose kernel runs here; null on the host.
Checker* running_checker() { return detail::current_thread != nullptr ? current_checker : nullptr; }

// Around an atomic operation: what it releases is known before others can see its value, and what it acquires
// is looked up when it has seen the value.
class AtomicOperation {
 public:
  AtomicOperation(const volatile void* address, unsigned bytes, AccessKind kind, int order, const void* pc,
                  const void* frame)
      : address_(reinterpret_cast<std::uintptr_t>(address)), order_(order_of(order)), kind_(kind), pc_(pc) {
    Checker* checker = running_checker();
    if (checker == nullptr) return;
    checker->access({address_, bytes, kind, true, pc, frame, false});
    checker->before_atomic(address_, order_, kind != AccessKind::load, pc);
  }
  AtomicOperation(const AtomicOperation&) = delete;
  AtomicOperation& operator=(const AtomicOperation&) = delete;
  ~AtomicOperation() {
    Checker* checker = running_checker();
    if (checker != nullptr && kind_ != AccessKind::store) checker->after_atomic(address_, order_, pc_);
  }

 private:
  std::uintptr_t address_;
  Checker::Order order_;
  AccessKind kind_;
  const void* pc_;
};

}  // namespace

std::uint64_t instrumentation_calls() { return g_unwatched_calls.load(); }

}  // namespace checked

namespace detail {

void atomic_begins(const AtomicAccess& access) {
  checked::Checker* checker = checked::running_checker();
  if (checker == nullptr) return;
  const auto place = reinterpret_cast<std::uintptr_t>(access.address);
  const checked::AccessKind kind = access.kind == AtomicKind::load    ? checked::AccessKind::load
                                   : access.kind == AtomicKind::store ? checked::AccessKind::store
                                                                      : checked::AccessKind::atomic;
  checker->access({place, access.bytes, kind, true, access.pc, __builtin_dwarf_cfa()});
  checker->before_atomic(place, checked::order_of(access.order), access.kind != AtomicKind::load, access.pc);
}
void atomic_ends(const AtomicAccess& access) {
  checked::Checker* checker = checked::running_checker();
  if (checker == nullptr || access.kind == AtomicKind::store) return;
  checker->after_atomic(reinterpret_cast<std::uintptr_t>(access.address), checked::order_of(access.order),
                        access.pc);
}

void atomic_begins(const void* address, unsigned bytes, const void* pc) {
  atomic_begins({address, bytes, AtomicKind::update, __ATOMIC_RELAXED, pc});
}
void atomic_ends(const void* address, const void* pc) {
  atomic_ends({address, 0, AtomicKind::update, __ATOMIC_RELAXED, pc});
}

}  // namespace detail
}  // namespace rooftile::simt

// NOLINTBEGIN(bugprone-reserved-identifier): the compiler's names
using rooftile::simt::checked::AccessKind;
using rooftile::simt::checked::AtomicOperation;
using rooftile::simt::checked::current_checker;
using rooftile::simt::checked::on_access;
using rooftile::simt::checked::running_checker;

#define ROOFTILE_HOOK_PLACE __builtin_return_address(0), __builtin_dwarf_cfa()

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
// A constructor stores the address of its class's table: a write like any other.
void __tsan_vptr_update(void** address, void*) {
  on_access(address, sizeof(void*), AccessKind::store, ROOFTILE_HOOK_PLACE);
}
void __tsan_vptr_read(void**) {}

#define ROOFTILE_HOOK(name, bytes, kind, of_struct)                              \
  void name(const void* address) {                                               \
    on_access(address, bytes, AccessKind::kind, ROOFTILE_HOOK_PLACE, of_struct); \
  }
// What is aligned to less than its size is a struct that is copied, and so may be what has 16 bytes.
// Kernels spin on volatile flags: others must have their turn.
#define ROOFTILE_VOLATILE_READ(bytes)                                 \
  void __tsan_volatile_read##bytes(const void* address) {             \
    on_access(address, bytes, AccessKind::load, ROOFTILE_HOOK_PLACE); \
    if (auto* checker = running_checker(); checker != nullptr)        \
      checker->volatile_read(__builtin_return_address(0));            \
  }
#define ROOFTILE_HOOKS(bytes)                                      \
  ROOFTILE_HOOK(__tsan_read##bytes, bytes, load, bytes == 16)      \
  ROOFTILE_HOOK(__tsan_write##bytes, bytes, store, false)          \
  ROOFTILE_HOOK(__tsan_unaligned_read##bytes, bytes, load, true)   \
  ROOFTILE_HOOK(__tsan_unaligned_write##bytes, bytes, store, true) \
  ROOFTILE_VOLATILE_READ(bytes)                                    \
  ROOFTILE_HOOK(__tsan_volatile_write##bytes, bytes, store, false)
ROOFTILE_HOOKS(1)
ROOFTILE_HOOKS(2)
ROOFTILE_HOOKS(4)
ROOFTILE_HOOKS(8)
ROOFTILE_HOOKS(16)
#undef ROOFTILE_HOOKS
#undef ROOFTILE_VOLATILE_READ
#undef ROOFTILE_HOOK

// Aggregates: the widest access of one thread is 16 bytes.
static void on_range(const void* address, unsigned long bytes, AccessKind kind, const void* pc,
                     const void* frame) {
  constexpr unsigned long kWidest = 16;
  for (unsigned long at = 0; at < bytes; at += kWidest) {
    const unsigned long rest = bytes - at;
    on_access(static_cast<const char*>(address) + at, static_cast<unsigned>(rest < kWidest ? rest : kWidest),
              kind, pc, frame, true);
  }
}
void __tsan_read_range(const void* address, unsigned long bytes) {
  on_range(address, bytes, AccessKind::load, ROOFTILE_HOOK_PLACE);
}
void __tsan_write_range(const void* address, unsigned long bytes) {
  on_range(address, bytes, AccessKind::store, ROOFTILE_HOOK_PLACE);
}

// Atomics that kernels write as the compiler's builtins.
#define ROOFTILE_HOOK_UPDATE(bits, T, name)                                                           \
  T __tsan_atomic##bits##_##name(volatile T* address, T value, int order) {                           \
    const AtomicOperation watched(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE); \
    return __atomic_##name(address, value, __ATOMIC_SEQ_CST);                                         \
  }
#define ROOFTILE_HOOK_ATOMICS(bits, T)                                                                       \
  T __tsan_atomic##bits##_load(const volatile T* address, int order) {                                       \
    /* CUDA has no relaxed builtin load: it begins the loop that stands for one atomic instruction. */       \
    if (order == __ATOMIC_RELAXED) return __atomic_load_n(address, __ATOMIC_RELAXED);                        \
    const AtomicOperation watched(address, bits / 8, AccessKind::load, order, ROOFTILE_HOOK_PLACE);          \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                                       \
  }                                                                                                          \
  void __tsan_atomic##bits##_store(volatile T* address, T value, int order) {                                \
    const AtomicOperation watched(address, bits / 8, AccessKind::store, order, ROOFTILE_HOOK_PLACE);         \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                                      \
  }                                                                                                          \
  T __tsan_atomic##bits##_exchange(volatile T* address, T value, int order) {                                \
    const AtomicOperation watched(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE);        \
    return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                            \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* address, T* expected, T value, int order,    \
                                                    int) {                                                   \
    const AtomicOperation watched(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE);        \
    return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* address, T* expected, T value, int order,      \
                                                  int) {                                                     \
    const AtomicOperation watched(address, bits / 8, AccessKind::atomic, order, ROOFTILE_HOOK_PLACE);        \
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
  if (auto* checker = running_checker(); checker != nullptr) checker->fence(__builtin_return_address(0));
}
void __tsan_atomic_signal_fence(int) {}

void __sanitizer_cov_trace_pc() {
  if (auto* checker = current_checker; checker != nullptr) checker->step(ROOFTILE_HOOK_PLACE);
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
  auto* checker = running_checker();
  if (checker == nullptr) return;
  checker->index_out_of_bounds(data->file, data->line,
                               "uses index " + std::to_string(static_cast<std::intptr_t>(index)) +
                                   " of an array " + data->array_type->name);
}
#endif

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
