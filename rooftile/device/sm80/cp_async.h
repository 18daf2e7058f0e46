// Asynchronous copies from global to shared memory, by 4, 8 or 16 bytes per thread, past the registers.
//
//   cp_async<16>(&s_tile[0][i], g_tile + i);  // issued; the thread goes on
//   cp_async_commit();                        // all that was issued since the last commit: a group
//   cp_async_wait<1>();                       // all groups but the newest have arrived, for this thread
//   __syncthreads();                          // ... and now for the block
//
// Both addresses are multiples of the copy's bytes. Until the wait the target is neither read nor written,
// and the source not written. On the simulated SM a copy is done as late as that allows, at its wait: without
// the wait the old bytes are read.
//
// Source: PTX ISA, cp.async, cp.async.commit_group, cp.async.wait_group.
#pragma once

#include <cstdint>

#include "rooftile/device/caller.h"
#include "rooftile/device/shared_address.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/alignment.h"
#include "rooftile/sim/async_copy.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

enum class CopyCache {
  l1_and_l2,  // cp.async.ca
  l2,         // cp.async.cg, of 16 bytes alone: what is used once leaves L1 to others
};

// Copies the first `source_bytes` of kBytes bytes and fills the rest with zeros; with 0 the source is not
// read. kL2Prefetch (0, 64, 128, 256): how many bytes around the source L2 may fetch along with it.
template <int kBytes, CopyCache kCache = kBytes == 16 ? CopyCache::l2 : CopyCache::l1_and_l2,
          int kL2Prefetch = 0>
__device__ __forceinline__ void cp_async_or_zero(void* s_target, const void* g_source,
                                                 int source_bytes ROOFTILE_AND_CALLER) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "the sizes of cp.async");
  static_assert(kCache == CopyCache::l1_and_l2 || kBytes == 16, "past L1 only by 16 bytes");
  static_assert(kL2Prefetch == 0 || kL2Prefetch == 64 || kL2Prefetch == 128 || kL2Prefetch == 256);
#if defined(ROOFTILE_SIM)
  detail::check_aligned("cp.async to shared memory", s_target, kBytes, where);
  if (source_bytes > 0) detail::check_aligned("cp.async from global memory", g_source, kBytes, where);
  detail::issue_async_copy({s_target, g_source, kBytes, source_bytes}, where);
#else
  const std::uint32_t s_address = shared_address(s_target);
#define ROOFTILE_CP_ASYNC(cache, prefetch)                                                          \
  asm volatile("cp.async." cache ".shared.global" prefetch " [%0], [%1], %2, %3;" ::"r"(s_address), \
               "l"(g_source), "n"(kBytes), "r"(source_bytes)                                        \
               : "memory")
#define ROOFTILE_CP_ASYNC_PREFETCH(cache)    \
  if constexpr (kL2Prefetch == 64) {         \
    ROOFTILE_CP_ASYNC(cache, ".L2::64B");    \
  } else if constexpr (kL2Prefetch == 128) { \
    ROOFTILE_CP_ASYNC(cache, ".L2::128B");   \
  } else if constexpr (kL2Prefetch == 256) { \
    ROOFTILE_CP_ASYNC(cache, ".L2::256B");   \
  } else {                                   \
    ROOFTILE_CP_ASYNC(cache, "");            \
  }
  if constexpr (kCache == CopyCache::l2) {
    ROOFTILE_CP_ASYNC_PREFETCH("cg")
  } else {
    ROOFTILE_CP_ASYNC_PREFETCH("ca")
  }
#undef ROOFTILE_CP_ASYNC_PREFETCH
#undef ROOFTILE_CP_ASYNC
#endif
}

// Copies kBytes bytes.
template <int kBytes, CopyCache kCache = kBytes == 16 ? CopyCache::l2 : CopyCache::l1_and_l2,
          int kL2Prefetch = 0>
__device__ __forceinline__ void cp_async(void* s_target, const void* g_source ROOFTILE_AND_CALLER) {
  cp_async_or_zero<kBytes, kCache, kL2Prefetch>(s_target, g_source, kBytes ROOFTILE_AND_HERE);
}

// Makes a group of this thread's copies since its last commit; an empty group counts too.
__device__ __forceinline__ void cp_async_commit() {
#if defined(ROOFTILE_SIM)
  detail::commit_async_copies();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the newest kPending groups of this thread are still under way.
template <int kPending>
__device__ __forceinline__ void cp_async_wait(ROOFTILE_CALLER) {
  static_assert(kPending >= 0);
#if defined(ROOFTILE_SIM)
  detail::wait_async_copies(kPending, where);
#else
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#endif
}

// Waits for all copies of this thread, those without a group included.
__device__ __forceinline__ void cp_async_wait_all(ROOFTILE_CALLER) {
#if defined(ROOFTILE_SIM)
  detail::wait_all_async_copies(where);
#else
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace rooftile::ROOFTILE_TARGET
