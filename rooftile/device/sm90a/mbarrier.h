// mbarrier: a barrier in shared memory that counts arriving threads and arriving bytes.
//
//   phase 0 completes when `arrivals` threads have arrived and as many bytes have landed as were expected;
//   then phase 1 begins with the same number of arrivals, and so on. A wait names the phase by its parity:
//
//     phase            0        1        2        3
//     parity to pass   0        1        0        1
//
//   wait(parity) returns when the current phase has the other parity. A fresh barrier therefore lets
//   wait(1) pass at once ("the phase before the first"), which is how a producer's first round through a
//   ring of buffers finds every slot free.
//
// Source: PTX ISA, Parallel Synchronization and Communication Instructions: mbarrier.
#pragma once

#include <cstdint>

#include "rooftile/device/shared_address.h"
#include "rooftile/device/sm90a/remote_address.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include <source_location>

#include "rooftile/sim/mbarrier.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

// In shared memory; its bits are the hardware's own.
struct alignas(8) Mbarrier {
  std::uint64_t bits;
};

// Who sees what the arriving threads wrote before: the waiting block, or waiters of the whole cluster.
enum class MbarrierScope { block, cluster };

#if defined(ROOFTILE_SIM)

inline void mbarrier_init(Mbarrier* s_barrier, std::uint32_t arrivals,
                          std::source_location where = std::source_location::current()) {
  simt::detail::mbarrier_init(&s_barrier->bits, arrivals, where);
}
inline void fence_mbarrier_init() { simt::detail::fence_mbarrier_init(); }
inline void mbarrier_inval(Mbarrier* s_barrier,
                           std::source_location where = std::source_location::current()) {
  simt::detail::mbarrier_inval(&s_barrier->bits, where);
}
inline void mbarrier_arrive(Mbarrier* s_barrier, std::uint32_t count = 1,
                            std::source_location where = std::source_location::current()) {
  simt::detail::mbarrier_arrive(&s_barrier->bits, count, 0, where);
}
inline void mbarrier_expect_tx(Mbarrier* s_barrier, std::uint32_t bytes,
                               std::source_location where = std::source_location::current()) {
  simt::detail::mbarrier_arrive(&s_barrier->bits, 0, bytes, where);
}
inline void mbarrier_arrive_expect_tx(Mbarrier* s_barrier, std::uint32_t bytes,
                                      std::source_location where = std::source_location::current()) {
  simt::detail::mbarrier_arrive(&s_barrier->bits, 1, bytes, where);
}
template <MbarrierScope kScope = MbarrierScope::block>
inline bool mbarrier_try_wait(const Mbarrier* s_barrier, std::uint32_t parity,
                              std::source_location where = std::source_location::current()) {
  return simt::detail::mbarrier_try_wait(&s_barrier->bits, parity, where);
}
template <MbarrierScope kScope = MbarrierScope::block>
inline void mbarrier_wait(const Mbarrier* s_barrier, std::uint32_t parity,
                          std::source_location where = std::source_location::current()) {
  simt::detail::mbarrier_wait(&s_barrier->bits, parity, where);
}
template <MbarrierScope kScope = MbarrierScope::cluster>
inline void mbarrier_arrive_remote(Mbarrier* s_barrier, std::uint32_t rank, std::uint32_t count = 1,
                                   std::source_location where = std::source_location::current()) {
  auto* remote = static_cast<Mbarrier*>(simt::detail::map_shared_rank(s_barrier, rank, where));
  simt::detail::mbarrier_arrive(&remote->bits, count, 0, where);
}
inline void mbarrier_arrive_expect_tx_remote(Mbarrier* s_barrier, std::uint32_t rank, std::uint32_t bytes,
                                             std::source_location where = std::source_location::current()) {
  auto* remote = static_cast<Mbarrier*>(simt::detail::map_shared_rank(s_barrier, rank, where));
  simt::detail::mbarrier_arrive(&remote->bits, 1, bytes, where);
}

#else

// By one thread, before anybody uses it: then fence_mbarrier_init() by the same thread, then a barrier of all
// who use it (__syncthreads(); cluster_sync() where other blocks arrive or copy). `arrivals` is 1 to 2^20
// - 1.
__device__ __forceinline__ void mbarrier_init(Mbarrier* s_barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
               :
               : "r"(shared_address(s_barrier)), "r"(arrivals)
               : "memory");
}

// Makes this thread's initialisations visible to the other blocks of the cluster and to asynchronous copies.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Before the memory serves another purpose; nobody waits or arrives any more.
__device__ __forceinline__ void mbarrier_inval(Mbarrier* s_barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(shared_address(s_barrier)) : "memory");
}

// Arrives for `count` threads: what this thread wrote before is visible to who waits.
__device__ __forceinline__ void mbarrier_arrive(Mbarrier* s_barrier, std::uint32_t count = 1) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(shared_address(s_barrier)), "r"(count)
               : "memory");
}

// The current phase waits for `bytes` more bytes of asynchronous copies, too.
__device__ __forceinline__ void mbarrier_expect_tx(Mbarrier* s_barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
               :
               : "r"(shared_address(s_barrier)), "r"(bytes)
               : "memory");
}

// Both by one instruction, expecting first. The producer's call before it issues the copies.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(Mbarrier* s_barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :
               : "r"(shared_address(s_barrier)), "r"(bytes)
               : "memory");
}

// Whether the phase of this parity has completed; waits for it a time that the hardware chooses.
template <MbarrierScope kScope = MbarrierScope::block>
__device__ __forceinline__ bool mbarrier_try_wait(const Mbarrier* s_barrier, std::uint32_t parity) {
  std::uint32_t done;
  if constexpr (kScope == MbarrierScope::cluster) {
    asm volatile(
        "{\n .reg .pred done;\n"
        " mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%1], %2;\n"
        " selp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(shared_address(s_barrier)), "r"(parity)
        : "memory");
  } else {
    asm volatile(
        "{\n .reg .pred done;\n"
        " mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        " selp.u32 %0, 1, 0, done;\n}"
        : "=r"(done)
        : "r"(shared_address(s_barrier)), "r"(parity)
        : "memory");
  }
  return done != 0;
}

// Returns when the phase of this parity has completed: what its
// copies and its arriving threads wrote is visible to this thread.
template <MbarrierScope kScope = MbarrierScope::block>
__device__ __forceinline__ void mbarrier_wait(const Mbarrier* s_barrier, std::uint32_t parity) {
  while (!mbarrier_try_wait<kScope>(s_barrier, parity)) {
  }
}

// Arrives at the same barrier of the cluster's block `rank`, which waits with MbarrierScope::cluster. With MbarrierScope::block on
// both sides the other block learns that this thread has come, not what it wrote: enough where memory has been read and is free
// again, and without the fence of all of the thread's accesses, which takes some hundred cycles.
template <MbarrierScope kScope = MbarrierScope::cluster>
__device__ __forceinline__ void mbarrier_arrive_remote(Mbarrier* s_barrier, std::uint32_t rank,
                                                       std::uint32_t count = 1) {
  if constexpr (kScope == MbarrierScope::cluster) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;"
                 :
                 : "r"(remote_shared_address(s_barrier, rank)), "r"(count)
                 : "memory");
  } else {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0], %1;"
                 :
                 : "r"(remote_shared_address(s_barrier, rank)), "r"(count)
                 : "memory");
  }
}
__device__ __forceinline__ void mbarrier_arrive_expect_tx_remote(Mbarrier* s_barrier, std::uint32_t rank,
                                                                 std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;"
               :
               : "r"(remote_shared_address(s_barrier, rank)), "r"(bytes)
               : "memory");
}

#endif

}  // namespace rooftile::ROOFTILE_TARGET
