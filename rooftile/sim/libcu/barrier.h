// cuda::barrier. That of a block is an mbarrier, whose waits order what arrived threads and copies wrote; those
// of wider scopes may lie in global memory and are counted with atomics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

#include "rooftile/sim/bulk_copy.h"
#include "rooftile/sim/libcu/atomic_access.h"
#include "rooftile/sim/libcu/memcpy_async.h"
#include "rooftile/sim/libcu/scope.h"
#include "rooftile/sim/mbarrier.h"

namespace rooftile::simt::libcu {

namespace barrier_detail {

// By an mbarrier.
struct OfBlock {
  static void init(std::uint64_t* bits, std::uint32_t count, std::source_location where) {
    detail::mbarrier_init(bits, count, where);
  }
  static std::uint32_t arrive(std::uint64_t* bits, std::uint32_t count, std::source_location where) {
    const std::uint32_t parity = detail::mbarrier_parity(bits, where);
    detail::mbarrier_arrive(bits, count, 0, where);
    return parity;
  }
  static void arrive_and_drop(std::uint64_t* bits, std::source_location where) {
    detail::mbarrier_arrive_drop(bits, where);
  }
  static bool try_wait(const std::uint64_t* bits, std::uint32_t parity, std::source_location where) {
    return detail::mbarrier_try_wait(bits, parity, where);
  }
  static void wait(const std::uint64_t* bits, std::uint32_t parity, std::source_location where) {
    detail::mbarrier_wait(bits, parity, where);
  }
};

// By atomics on one word: the phase's parity, who is still to arrive, and how many a phase waits for.
struct OfMemory {
#define ROOFTILE_LIBCU_INLINE __attribute__((always_inline)) static inline
  static constexpr unsigned kCountBits = 31;
  static constexpr std::uint64_t kCount = (std::uint64_t{1} << kCountBits) - 1;
  static constexpr std::uint64_t pack(std::uint64_t parity, std::uint64_t pending, std::uint64_t arrivals) {
    return parity | pending << 1 | arrivals << (1 + kCountBits);
  }
  static constexpr std::uint64_t pending_of(std::uint64_t bits) { return bits >> 1 & kCount; }
  static constexpr std::uint64_t arrivals_of(std::uint64_t bits) { return bits >> (1 + kCountBits); }

  ROOFTILE_LIBCU_INLINE void init(std::uint64_t* bits, std::uint32_t count, std::source_location where) {
    detail::atomic_store(bits, pack(0, count, count),
                         {"cuda::barrier::init", std::memory_order_release, where});
  }
  ROOFTILE_LIBCU_INLINE std::uint32_t leave(std::uint64_t* bits, std::uint32_t count, std::uint32_t dropped,
                                            std::source_location where) {
    const std::uint64_t before =
        detail::atomic_modify(bits, {"cuda::barrier::arrive", std::memory_order_acq_rel, where},
                              [count, dropped](std::uint64_t old) {
                                const std::uint64_t arrivals = arrivals_of(old) - dropped;
                                const std::uint64_t pending = pending_of(old);
                                if (count < pending) return pack(old & 1, pending - count, arrivals);
                                return pack(~old & 1, arrivals, arrivals);
                              });
    if (count > pending_of(before)) [[unlikely]] {
      detail::report_failure("cuda::barrier: " + std::to_string(count) +
                                 " arrivals, while its phase waits for " + std::to_string(pending_of(before)),
                             where);
      detail::abandon_thread();
    }
    return static_cast<std::uint32_t>(before & 1);
  }
  ROOFTILE_LIBCU_INLINE std::uint32_t arrive(std::uint64_t* bits, std::uint32_t count,
                                             std::source_location where) {
    return leave(bits, count, 0, where);
  }
  ROOFTILE_LIBCU_INLINE void arrive_and_drop(std::uint64_t* bits, std::source_location where) {
    leave(bits, 1, 1, where);
  }
  ROOFTILE_LIBCU_INLINE bool try_wait(const std::uint64_t* bits, std::uint32_t parity,
                                      std::source_location where) {
    const std::uint64_t now =
        detail::atomic_load(bits, {"cuda::barrier::wait", std::memory_order_acquire, where});
    if ((now & 1) != parity) return true;
    detail::poll("cuda::barrier::wait", where);
    return false;
  }
  ROOFTILE_LIBCU_INLINE void wait(const std::uint64_t* bits, std::uint32_t parity,
                                  std::source_location where) {
    while (!try_wait(bits, parity, where)) {
    }
  }
#undef ROOFTILE_LIBCU_INLINE
};

}  // namespace barrier_detail

struct empty_completion {};

#define ROOFTILE_LIBCU_CALLER std::source_location where = std::source_location::current()
#define ROOFTILE_LIBCU_INLINE __attribute__((always_inline)) inline

template <thread_scope kScope = thread_scope_system, class Completion = empty_completion>
class barrier {
  static_assert(std::is_same_v<Completion, empty_completion>, "without completion functions");
  static constexpr bool kIsMbarrier = kScope == thread_scope_block || kScope == thread_scope_thread;
  using Kind = std::conditional_t<kIsMbarrier, barrier_detail::OfBlock, barrier_detail::OfMemory>;

 public:
  class arrival_token {
   public:
    arrival_token() = default;

   private:
    friend barrier;
    explicit arrival_token(std::uint32_t parity) : parity_(parity) {}
    std::uint32_t parity_ = 0;
  };

  barrier() = default;  // and nothing: in shared memory no constructor runs
  explicit barrier(std::ptrdiff_t expected, ROOFTILE_LIBCU_CALLER) { start(expected, where); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;
  static constexpr std::ptrdiff_t max() { return detail::kMaxMbarrierCount; }

  // By one thread, before a barrier of all who use it.
  friend void init(barrier* of, std::ptrdiff_t expected, ROOFTILE_LIBCU_CALLER) {
    of->start(expected, where);
  }

  ROOFTILE_LIBCU_INLINE arrival_token arrive(std::ptrdiff_t update = 1, ROOFTILE_LIBCU_CALLER) {
    return arrival_token(Kind::arrive(&bits_, static_cast<std::uint32_t>(update), where));
  }
  ROOFTILE_LIBCU_INLINE void wait(arrival_token&& token, ROOFTILE_LIBCU_CALLER) const {
    Kind::wait(&bits_, token.parity_, where);
  }
  ROOFTILE_LIBCU_INLINE void wait_parity(bool parity, ROOFTILE_LIBCU_CALLER) const {
    Kind::wait(&bits_, parity ? 1 : 0, where);
  }
  ROOFTILE_LIBCU_INLINE void arrive_and_wait(ROOFTILE_LIBCU_CALLER) { wait(arrive(1, where), where); }
  ROOFTILE_LIBCU_INLINE void arrive_and_drop(ROOFTILE_LIBCU_CALLER) { Kind::arrive_and_drop(&bits_, where); }

  template <class Rep, class Period>
  bool try_wait_parity_for(bool parity, const std::chrono::duration<Rep, Period>& patience,
                           ROOFTILE_LIBCU_CALLER) const {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!Kind::try_wait(&bits_, parity ? 1 : 0, where)) {
      if (std::chrono::steady_clock::now() >= end) return false;
    }
    return true;
  }
  // The token stays usable after a failure.
  template <class Rep, class Period>
  bool try_wait_for(arrival_token& token, const std::chrono::duration<Rep, Period>& patience,
                    ROOFTILE_LIBCU_CALLER) const {
    return try_wait_parity_for(token.parity_ != 0, patience, where);
  }
  template <class Rep, class Period>
  bool try_wait_for(arrival_token&& token, const std::chrono::duration<Rep, Period>& patience,
                    ROOFTILE_LIBCU_CALLER) const {
    return try_wait_parity_for(token.parity_ != 0, patience, where);
  }

  // For copies that complete at it; null where it is no mbarrier.
  [[nodiscard]] std::uint64_t* native_handle() { return kIsMbarrier ? &bits_ : nullptr; }
  [[nodiscard]] static arrival_token token_of(std::uint32_t parity) { return arrival_token(parity); }

 private:
  ROOFTILE_LIBCU_INLINE void start(std::ptrdiff_t expected, std::source_location where) {
    if (expected < 0 || expected > max()) [[unlikely]] {
      detail::report_failure("cuda::barrier: 1 to 2^20 - 1 threads, not " + std::to_string(expected), where);
      detail::abandon_thread();
    }
    Kind::init(&bits_, static_cast<std::uint32_t>(expected), where);
  }

  alignas(8) std::uint64_t bits_;
};

// The thread's copy, or its share of the group's: the barrier's phase waits for it.
template <class Group, class T, class Bytes, thread_scope kScope>
requires requires(const Group& group) { group.thread_rank(); }
ROOFTILE_LIBCU_INLINE async_contract_fulfillment memcpy_async(const Group& group, T* target, const T* source,
                                                              Bytes bytes, barrier<kScope>& waits,
                                                              ROOFTILE_LIBCU_CALLER) {
  return copy_detail::copy(target, source, bytes, group.thread_rank(), group.size(), waits.native_handle(),
                           kScope == thread_scope_block || kScope == thread_scope_thread, where);
}
template <class T, class Bytes, thread_scope kScope>
ROOFTILE_LIBCU_INLINE async_contract_fulfillment memcpy_async(T* target, const T* source, Bytes bytes,
                                                              barrier<kScope>& waits, ROOFTILE_LIBCU_CALLER) {
  return copy_detail::copy(target, source, bytes, 0, 1, waits.native_handle(),
                           kScope == thread_scope_block || kScope == thread_scope_thread, where);
}

// What barriers of a block have beyond those of the standard.
namespace device {

using block_barrier = barrier<thread_scope_block>;

inline std::uint64_t* barrier_native_handle(block_barrier& of) { return of.native_handle(); }
// The phase waits for so many bytes of copies.
inline void barrier_expect_tx(block_barrier& of, std::ptrdiff_t bytes, ROOFTILE_LIBCU_CALLER) {
  detail::mbarrier_arrive(of.native_handle(), 0, static_cast<std::uint32_t>(bytes), where);
}
[[nodiscard]] inline block_barrier::arrival_token barrier_arrive_tx(block_barrier& of, std::ptrdiff_t count,
                                                                    std::ptrdiff_t bytes,
                                                                    ROOFTILE_LIBCU_CALLER) {
  const std::uint32_t parity = detail::mbarrier_parity(of.native_handle(), where);
  detail::mbarrier_arrive(of.native_handle(), static_cast<std::uint32_t>(count),
                          static_cast<std::uint32_t>(bytes), where);
  return block_barrier::token_of(parity);
}
// A bulk copy by one thread, whose bytes somebody expects by one of the two above.
template <std::size_t kAlignment>
async_contract_fulfillment memcpy_async_tx(void* target, const void* source, aligned_size_t<kAlignment> bytes,
                                           block_barrier& waits, ROOFTILE_LIBCU_CALLER) {
  static_assert(kAlignment >= 16, "bulk copies are of 16 bytes and their multiples");
  detail::bulk_load(target, source, static_cast<std::uint32_t>(bytes.value), waits.native_handle(), where);
  return async_contract_fulfillment::async;
}

}  // namespace device

#undef ROOFTILE_LIBCU_INLINE
#undef ROOFTILE_LIBCU_CALLER

}  // namespace rooftile::simt::libcu
