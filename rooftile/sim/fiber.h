// Fibers: stacks with guard pages, and the switch between them (Boost.Context's fcontext).
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "rooftile/core/status.h"

#if defined(__SANITIZE_ADDRESS__)
#define ROOFTILE_SIM_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define ROOFTILE_SIM_ASAN 0
#endif

namespace rooftile::simt::detail {

// Where a suspended fiber, or the OS thread that runs fibers, continues.
struct Context {
  boost::context::detail::fcontext_t handle = nullptr;
  // For AddressSanitizer, which has to be told whose stack is in use.
  const void* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
  void* fake_stack = nullptr;  // kept when a fiber starts anew: its memory is reused
};

// Called on a stack that has just been switched to.
inline void arrive(boost::context::detail::transfer_t transfer, [[maybe_unused]] void* fake_stack) {
  auto* previous = static_cast<Context*>(transfer.data);
  previous->handle = transfer.fctx;
#if ROOFTILE_SIM_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, &previous->stack_bottom, &previous->stack_bytes);
#endif
}

// Suspends `from` and continues `to`; returns when somebody switches back to `from`.
inline void switch_context(Context& from, Context& to) {
#if ROOFTILE_SIM_ASAN
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
  arrive(boost::context::detail::jump_fcontext(to.handle, &from), from.fake_stack);
}

// At either end of a fiber's stack at least so many bytes belong to nobody.
inline constexpr std::size_t kStackGuardBytes = 4096;

struct Fiber {
  Context context;
  std::uint64_t epoch = 0;  // of the FiberPool that it was last prepared in
};

// The fibers of one block runner. A fiber runs an entry function that never returns.
class FiberPool {
 public:
  using Entry = void (*)(boost::context::detail::transfer_t);

  FiberPool() = default;
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool();

  // So many fibers can be taken at the same time.
  [[nodiscard]] Status reserve(std::size_t count);

  // Forgets what all fibers were doing: they start anew, on whatever OS thread takes them.
  void reset(Entry entry);

  // Precondition: fewer than the reserved number are taken.
  // Prefers the one given back last: its stack is in cache.
  Fiber& take();
  void give_back(Fiber& fiber) { free_.push_back(&fiber); }

 private:
  struct Slab {
    void* memory;
    std::size_t bytes;
  };
  void prepare(Fiber& fiber) const;

  Entry entry_ = nullptr;
  std::uint64_t epoch_ = 0;
  std::vector<Slab> slabs_;
  std::deque<Fiber> fibers_;  // keeps addresses
  std::vector<Fiber*> free_;
};

}  // namespace rooftile::simt::detail
