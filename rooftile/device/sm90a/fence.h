// The fence between ordinary accesses and asynchronous copies.
//
// TMA and bulk copies reach memory through the asynchronous proxy; loads, stores and atomics of threads
// through the generic one. What a thread wrote is not seen by a copy that it issues later, unless the thread
// that wrote runs this fence in between (and then the barrier that tells the issuing thread):
//
//   write s_tile;  fence_proxy_async<...>();  __syncthreads();  if (t == 0) tma_store(...)
//
// The other direction needs none: a wait at the copy's mbarrier or bulk group orders it.
// Source: PTX ISA, membar / fence: fence.proxy.async; Memory Consistency Model, Proxies.
#pragma once

#include "rooftile/device/caller.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/proxy_fence.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

enum class FenceSpace {
  all,
  shared_block,    // this block's shared memory
  shared_cluster,  // that of all blocks of the cluster
  global,
};

template <FenceSpace kSpace = FenceSpace::all>
__device__ __forceinline__ void fence_proxy_async(ROOFTILE_CALLER) {
#if defined(ROOFTILE_SIM)
  constexpr bool kGlobal = kSpace == FenceSpace::all || kSpace == FenceSpace::global;
  simt::detail::proxy_fence(kSpace != FenceSpace::global, kGlobal, where);
#else
  if constexpr (kSpace == FenceSpace::shared_block) {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  } else if constexpr (kSpace == FenceSpace::shared_cluster) {
    asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
  } else if constexpr (kSpace == FenceSpace::global) {
    asm volatile("fence.proxy.async.global;" ::: "memory");
  } else {
    asm volatile("fence.proxy.async;" ::: "memory");
  }
#endif
}

}  // namespace rooftile::ROOFTILE_TARGET
