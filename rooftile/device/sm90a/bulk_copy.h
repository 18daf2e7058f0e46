// Bulk copies: one thread moves a contiguous run of bytes between global and shared memory, asynchronously.
//
// Both addresses and the size are multiples of 16 bytes. A load is complete when its mbarrier's phase is: the
// consumer waits there. A store joins the bulk group that its thread commits next; that thread waits for the
// group: wait_read before the shared memory is written again (or the block returns), wait before others may
// be told that the result is there. Between ordinary writes to shared memory and a store stands
// fence_proxy_async<FenceSpace::shared_block>() by the writers, and a barrier.
//
// Source: PTX ISA, Data Movement and Conversion Instructions: Asynchronous copy, cp.async.bulk,
// cp.reduce.async.bulk, cp.async.bulk.prefetch, cp.async.bulk.commit_group, cp.async.bulk.wait_group.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/sm80/l2_policy.h"
#include "rooftile/device/sm90a/mbarrier.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/bulk_copy.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

#if defined(ROOFTILE_SIM)
using BulkReduction = simt::detail::BulkReduction;
#else
enum class BulkReduction { add, min, max };
#endif

// add: 32- and 64-bit integers, f16, bf16, f32, f64; min and max: integers, f16, bf16.
template <BulkReduction kOp, class T>
inline constexpr bool kIsBulkReduction = (std::is_integral_v<T> && (sizeof(T) == 4 || sizeof(T) == 8)) ||
                                         std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16> ||
                                         (kOp == BulkReduction::add &&
                                          (std::is_same_v<T, float> || std::is_same_v<T, double>));

#if defined(ROOFTILE_SIM)

inline void bulk_load(void* s_destination, const void* g_source, std::uint32_t bytes, Mbarrier* s_barrier,
                      std::source_location where = std::source_location::current()) {
  simt::detail::bulk_load(s_destination, g_source, bytes, &s_barrier->bits, where);
}
inline void bulk_load_by_policy(void* s_destination, const void* g_source, std::uint32_t bytes,
                                Mbarrier* s_barrier, L2Policy,
                                std::source_location where = std::source_location::current()) {
  simt::detail::bulk_load(s_destination, g_source, bytes, &s_barrier->bits, where);
}
inline void bulk_load_multicast(void* s_destination, const void* g_source, std::uint32_t bytes,
                                Mbarrier* s_barrier, std::uint16_t blocks,
                                std::source_location where = std::source_location::current()) {
  simt::detail::bulk_load_multicast(s_destination, g_source, bytes, &s_barrier->bits, blocks, where);
}
inline void bulk_send(void* s_destination, const void* s_source, std::uint32_t bytes, Mbarrier* s_barrier,
                      std::uint32_t rank, std::source_location where = std::source_location::current()) {
  simt::detail::bulk_send(s_destination, s_source, bytes, &s_barrier->bits, rank, where);
}
inline void bulk_store(void* g_destination, const void* s_source, std::uint32_t bytes,
                       std::source_location where = std::source_location::current()) {
  simt::detail::bulk_store(g_destination, s_source, bytes, where);
}
template <BulkReduction kOp, class T>
inline void bulk_reduce(T* g_destination, const T* s_source, std::uint32_t bytes,
                        std::source_location where = std::source_location::current()) {
  static_assert(kIsBulkReduction<kOp, T>, "not an operation of cp.reduce.async.bulk on this type");
  simt::detail::bulk_reduce<kOp>(g_destination, s_source, bytes, where);
}
inline void bulk_prefetch(const void*, std::uint32_t) {}
inline void bulk_prefetch_by_policy(const void*, std::uint32_t, L2Policy) {}
inline void bulk_commit() { simt::detail::bulk_commit(); }
template <int kPending>
inline void bulk_wait_read(std::source_location where = std::source_location::current()) {
  simt::detail::bulk_wait(kPending, simt::detail::BulkStage::read, where);
}
template <int kPending>
inline void bulk_wait(std::source_location where = std::source_location::current()) {
  simt::detail::bulk_wait(kPending, simt::detail::BulkStage::written, where);
}

#else

// Global to this block's shared memory; `bytes` count at the barrier when they have landed.
__device__ __forceinline__ void bulk_load(void* s_destination, const void* g_source, std::uint32_t bytes,
                                          Mbarrier* s_barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(shared_address(s_destination)), "l"(__cvta_generic_to_global(g_source)), "r"(bytes),
                 "r"(shared_address(s_barrier))
               : "memory");
}

__device__ __forceinline__ void bulk_load_by_policy(void* s_destination, const void* g_source,
                                                    std::uint32_t bytes, Mbarrier* s_barrier,
                                                    L2Policy policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
      :
      : "r"(shared_address(s_destination)), "l"(__cvta_generic_to_global(g_source)), "r"(bytes),
        "r"(shared_address(s_barrier)), "l"(policy.bits)
      : "memory");
}

// The same bytes to every block of the cluster whose bit (by rank) is set in `blocks`: to the same place in
// each one's shared memory, counted at the same place's barrier. One read of global memory serves them all.
__device__ __forceinline__ void bulk_load_multicast(void* s_destination, const void* g_source,
                                                    std::uint32_t bytes, Mbarrier* s_barrier,
                                                    std::uint16_t blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;"
      :
      : "r"(shared_address(s_destination)), "l"(__cvta_generic_to_global(g_source)), "r"(bytes),
        "r"(shared_address(s_barrier)), "h"(blocks)
      : "memory");
}

// This block's shared memory to the same place `s_destination` of the cluster's block `rank`, counted at that
// block's barrier. Complete there; the sender's memory is free when it knows so from the receiver. In
// clusters of two and more blocks.
__device__ __forceinline__ void bulk_send(void* s_destination, const void* s_source, std::uint32_t bytes,
                                          Mbarrier* s_barrier, std::uint32_t rank) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               :
               : "r"(remote_shared_address(s_destination, rank)), "r"(shared_address(s_source)), "r"(bytes),
                 "r"(remote_shared_address(s_barrier, rank))
               : "memory");
}

// This block's shared memory to global.
__device__ __forceinline__ void bulk_store(void* g_destination, const void* s_source, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(__cvta_generic_to_global(g_destination)), "r"(shared_address(s_source)), "r"(bytes)
               : "memory");
}

// Combines `bytes` of elements from shared memory into global memory, each atomically (relaxed, device
// scope). Of a NaN and a number, min and max take the number.
template <BulkReduction kOp, class T>
__device__ __forceinline__ void bulk_reduce(T* g_destination, const T* s_source, std::uint32_t bytes) {
  static_assert(kIsBulkReduction<kOp, T>, "not an operation of cp.reduce.async.bulk on this type");
  constexpr bool kInteger = std::is_integral_v<T>;
  constexpr bool k32 = sizeof(T) == 4;
  constexpr bool kAdd = kOp == BulkReduction::add;
  constexpr bool kMin = kOp == BulkReduction::min;
  constexpr bool kHalf = std::is_same_v<T, __half>;
  constexpr bool kBfloat = std::is_same_v<T, __nv_bfloat16>;
  const auto destination = __cvta_generic_to_global(g_destination);
  const std::uint32_t source = shared_address(s_source);
#define ROOFTILE_BULK_REDUCE(operation)                                                           \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%0], [%1], %2;" \
               :                                                                                  \
               : "l"(destination), "r"(source), "r"(bytes)                                        \
               : "memory")
  if constexpr (kInteger && kAdd) {
    // Two's complement: one addition serves both signs.
    if constexpr (k32) {
      ROOFTILE_BULK_REDUCE("add.u32");
    } else {
      ROOFTILE_BULK_REDUCE("add.u64");
    }
  } else if constexpr (kInteger && std::is_signed_v<T>) {
    if constexpr (k32 && kMin) {
      ROOFTILE_BULK_REDUCE("min.s32");
    } else if constexpr (k32) {
      ROOFTILE_BULK_REDUCE("max.s32");
    } else if constexpr (kMin) {
      ROOFTILE_BULK_REDUCE("min.s64");
    } else {
      ROOFTILE_BULK_REDUCE("max.s64");
    }
  } else if constexpr (kInteger) {
    if constexpr (k32 && kMin) {
      ROOFTILE_BULK_REDUCE("min.u32");
    } else if constexpr (k32) {
      ROOFTILE_BULK_REDUCE("max.u32");
    } else if constexpr (kMin) {
      ROOFTILE_BULK_REDUCE("min.u64");
    } else {
      ROOFTILE_BULK_REDUCE("max.u64");
    }
  } else if constexpr (kHalf) {
    if constexpr (kAdd) {
      ROOFTILE_BULK_REDUCE("add.noftz.f16");
    } else if constexpr (kMin) {
      ROOFTILE_BULK_REDUCE("min.f16");
    } else {
      ROOFTILE_BULK_REDUCE("max.f16");
    }
  } else if constexpr (kBfloat) {
    if constexpr (kAdd) {
      ROOFTILE_BULK_REDUCE("add.noftz.bf16");
    } else if constexpr (kMin) {
      ROOFTILE_BULK_REDUCE("min.bf16");
    } else {
      ROOFTILE_BULK_REDUCE("max.bf16");
    }
  } else if constexpr (k32) {
    ROOFTILE_BULK_REDUCE("add.f32");
  } else {
    ROOFTILE_BULK_REDUCE("add.f64");
  }
#undef ROOFTILE_BULK_REDUCE
}

// Brings global memory into L2; a hint.
__device__ __forceinline__ void bulk_prefetch(const void* g_source, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(g_source)), "r"(bytes)
               : "memory");
}
// The same, with what L2 is to do with these lines.
__device__ __forceinline__ void bulk_prefetch_by_policy(const void* g_source, std::uint32_t bytes,
                                                        L2Policy policy) {
  asm volatile("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%0], %1, %2;"
               :
               : "l"(__cvta_generic_to_global(g_source)), "r"(bytes), "l"(policy.bits)
               : "memory");
}

// Closes this thread's bulk group: the stores and reductions that it has issued since the last.
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

// Until at most the kPending groups committed last may still read shared memory.
template <int kPending>
__device__ __forceinline__ void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" : : "n"(kPending) : "memory");
}

// Until at most the kPending groups committed last are
// incomplete: what the others wrote is visible to this thread.
template <int kPending>
__device__ __forceinline__ void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" : : "n"(kPending) : "memory");
}

#endif

}  // namespace rooftile::ROOFTILE_TARGET
