// Thread-block clusters: blocks of one launch (LaunchConfig::cluster) that run at the same time, synchronise,
// and reach each other's shared memory.
//
//   cluster of 4 blocks          block 0        block 1        block 2        block 3
//                              [ s_data ]     [ s_data ]     [ s_data ]     [ s_data ]
//   map_shared_rank(s_data, 2) -----------------------------------^   an ordinary pointer, from any block
//
// A block's shared memory is there between the cluster's first cluster_sync(), before which it may not have
// started, and its return: the last access of another block stands before a last cluster_sync().
//
// Source: PTX ISA, Cluster of Cooperative Thread Arrays; special
// registers %cluster_*; barrier.cluster; mapa; st.async.
#pragma once

#include <cstdint>
#include <cstring>

#include "rooftile/device/sm90a/mbarrier.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/bulk_copy.h"
#include "rooftile/sim/cluster.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

#if defined(ROOFTILE_SIM)

inline std::uint32_t cluster_rank() { return simt::detail::cluster_rank(); }
inline std::uint32_t cluster_blocks() { return simt::detail::cluster_blocks(); }
inline dim3 cluster_block_index() { return simt::detail::cluster_block_index(); }
inline dim3 cluster_extent() { return simt::detail::cluster_extent(); }
inline dim3 cluster_index() {
  const dim3 extent = cluster_extent();
  return {blockIdx.x / extent.x, blockIdx.y / extent.y, blockIdx.z / extent.z};
}

inline void cluster_arrive(std::source_location where = std::source_location::current()) {
  simt::detail::cluster_arrive(where);
}
inline void cluster_arrive_relaxed(std::source_location where = std::source_location::current()) {
  simt::detail::cluster_arrive_relaxed(where);
}
inline void cluster_wait(std::source_location where = std::source_location::current()) {
  simt::detail::cluster_wait(where);
}
inline void cluster_sync(std::source_location where = std::source_location::current()) {
  simt::detail::cluster_arrive(where);
  simt::detail::cluster_wait(where);
}

template <class T>
inline T* map_shared_rank(T* s_pointer, std::uint32_t rank,
                          std::source_location where = std::source_location::current()) {
  return static_cast<T*>(simt::detail::map_shared_rank(s_pointer, rank, where));
}

template <class T>
inline void store_async(T* s_destination, const T& value, Mbarrier* s_barrier, std::uint32_t rank,
                        std::source_location where = std::source_location::current()) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "st.async moves 4, 8 or 16 bytes");
  simt::detail::store_async(s_destination, &value, sizeof(T), &s_barrier->bits, rank, where);
}

#else

// This block's number in its cluster, x fastest, and how many there are.
__device__ __forceinline__ std::uint32_t cluster_rank() {
  std::uint32_t rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ std::uint32_t cluster_blocks() {
  std::uint32_t blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
// This block's place in its cluster, in blocks.
__device__ __forceinline__ dim3 cluster_block_index() {
  dim3 index;
  asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(index.x));
  asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(index.y));
  asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(index.z));
  return index;
}
__device__ __forceinline__ dim3 cluster_extent() {
  dim3 extent;
  asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(extent.x));
  asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(extent.y));
  asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(extent.z));
  return extent;
}
// The cluster's place in the grid, in clusters.
__device__ __forceinline__ dim3 cluster_index() {
  dim3 index;
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(index.x));
  asm("mov.u32 %0, %%clusterid.y;" : "=r"(index.y));
  asm("mov.u32 %0, %%clusterid.z;" : "=r"(index.z));
  return index;
}

// Every thread of the cluster arrives once, then waits once; what it wrote before arriving is visible to all
// after their wait. Between the two there is time for work of one's own.
__device__ __forceinline__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
// For the barriers that order no memory, such as "all blocks have started".
__device__ __forceinline__ void cluster_arrive_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed;" :::);
}
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
// A barrier of all threads of the cluster, a block barrier included.
__device__ __forceinline__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

// The same place in the shared memory of the cluster's block `rank`: an ordinary pointer to read and write.
template <class T>
__device__ __forceinline__ T* map_shared_rank(T* s_pointer, std::uint32_t rank) {
  std::uint64_t mapped;
  asm("mapa.u64 %0, %1, %2;" : "=l"(mapped) : "l"(s_pointer), "r"(rank));
  return reinterpret_cast<T*>(mapped);
}

// Stores 4, 8 or 16 bytes, aligned to their size, to the same place of block `rank` without waiting: they
// count at the same barrier of that block when they have landed. Only in clusters of two and more blocks:
// alone it is an illegal instruction.
template <class T>
__device__ __forceinline__ void store_async(T* s_destination, const T& value, Mbarrier* s_barrier,
                                            std::uint32_t rank) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "st.async moves 4, 8 or 16 bytes");
  const std::uint32_t address = remote_shared_address(s_destination, rank);
  const std::uint32_t barrier = remote_shared_address(s_barrier, rank);
  std::uint32_t words[sizeof(T) / 4];
  memcpy(words, &value, sizeof(T));
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 :
                 : "r"(address), "r"(words[0]), "r"(barrier)
                 : "memory");
  } else if constexpr (sizeof(T) == 8) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];"
                 :
                 : "r"(address), "r"(words[0]), "r"(words[1]), "r"(barrier)
                 : "memory");
  } else {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %2, %3, %4}, [%5];"
        :
        : "r"(address), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]), "r"(barrier)
        : "memory");
  }
}

#endif

}  // namespace rooftile::ROOFTILE_TARGET
