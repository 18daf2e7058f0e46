// TMA: one thread moves a box of a tensor of 1 to 5 dimensions between global and shared memory.
//
//   __shared__ / dynamic shared memory, aligned to tile_alignment(swizzle)
//   if (t == 0) {
//     mbarrier_arrive_expect_tx(&s_full, kTileBytes);   // tile_bytes(spec), out-of-bounds elements included
//     tma_load(s_tile, map, {x, y}, &s_full);           // coordinates in elements, dimension 0 first
//   }
//   mbarrier_wait(&s_full, parity);
//
// What lies outside the tensor is filled (load) or left out (store). A box starts at a multiple of 16 bytes
// in dimension 0; coordinates of a load may be negative, those of a store or a reduction may not: on an H200
// both are illegal instructions. Completion, bulk groups and the fence before a store: as in bulk_copy.h. The
// layout of a tile and its swizzle: core/tensor_map_spec.h. Source: PTX ISA, cp.async.bulk.tensor,
// cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor, prefetch.tensormap.
#pragma once

#include <cstdint>

#include "rooftile/device/sm80/l2_policy.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/tensor_map.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/tile_copy.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

#if defined(ROOFTILE_SIM)

inline void prefetch_tensor_map(const TensorMap&) {}

template <int kRank>
inline void tma_load(void* s_tile, const TensorMap& map, const std::int32_t (&at)[kRank], Mbarrier* s_barrier,
                     std::source_location where = std::source_location::current()) {
  simt::detail::tile_load(s_tile, {map.spec, at, kRank}, &s_barrier->bits, where);
}
template <int kRank>
inline void tma_load_by_policy(void* s_tile, const TensorMap& map, const std::int32_t (&at)[kRank],
                               Mbarrier* s_barrier, L2Policy,
                               std::source_location where = std::source_location::current()) {
  simt::detail::tile_load(s_tile, {map.spec, at, kRank}, &s_barrier->bits, where);
}
template <int kRank>
inline void tma_load_multicast(void* s_tile, const TensorMap& map, const std::int32_t (&at)[kRank],
                               Mbarrier* s_barrier, std::uint16_t blocks,
                               std::source_location where = std::source_location::current()) {
  simt::detail::tile_load_multicast(s_tile, {map.spec, at, kRank}, &s_barrier->bits, blocks, where);
}
template <int kRank>
inline void tma_store(const TensorMap& map, const std::int32_t (&at)[kRank], const void* s_tile,
                      std::source_location where = std::source_location::current()) {
  simt::detail::tile_store({map.spec, at, kRank}, s_tile, where);
}
template <BulkReduction kOp, int kRank>
inline void tma_reduce(const TensorMap& map, const std::int32_t (&at)[kRank], const void* s_tile,
                       std::source_location where = std::source_location::current()) {
  simt::detail::tile_reduce(kOp, {map.spec, at, kRank}, s_tile, where);
}
template <int kRank>
inline void tma_prefetch(const TensorMap& map, const std::int32_t (&at)[kRank],
                         std::source_location where = std::source_location::current()) {
  simt::detail::check_tile({map.spec, at, kRank}, "tma_prefetch", where);
}
template <int kRank>
inline void tma_prefetch_by_policy(const TensorMap& map, const std::int32_t (&at)[kRank], L2Policy,
                                   std::source_location where = std::source_location::current()) {
  simt::detail::check_tile({map.spec, at, kRank}, "tma_prefetch_by_policy", where);
}

#else

// Brings the map itself into the cache from which TMA reads it; once, before the first copy.
__device__ __forceinline__ void prefetch_tensor_map(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
}

// One instruction of the family for each rank: its name, the rank, what stands
// before and after the coordinates. Operands %0 to %4 are the coordinates, of
// which a rank uses the first; %5 is the map. The rest is the caller's.
#define ROOFTILE_TMA_OPERANDS                                                                     \
  "r"(at[0]), "r"(at[kRank > 1 ? 1 : 0]), "r"(at[kRank > 2 ? 2 : 0]), "r"(at[kRank > 3 ? 3 : 0]), \
      "r"(at[kRank > 4 ? 4 : 0]), "l"(&map)
#define ROOFTILE_TMA(name, before, after, ...)                                                              \
  static_assert(kRank >= 1 && kRank <= 5, "one coordinate per dimension of the map");                       \
  if constexpr (kRank == 1) {                                                                               \
    asm volatile(name ".1d" before "{%0}" after : : ROOFTILE_TMA_OPERANDS, __VA_ARGS__ : "memory");         \
  } else if constexpr (kRank == 2) {                                                                        \
    asm volatile(name ".2d" before "{%0, %1}" after : : ROOFTILE_TMA_OPERANDS, __VA_ARGS__ : "memory");     \
  } else if constexpr (kRank == 3) {                                                                        \
    asm volatile(name ".3d" before "{%0, %1, %2}" after : : ROOFTILE_TMA_OPERANDS, __VA_ARGS__ : "memory"); \
  } else if constexpr (kRank == 4) {                                                                        \
    asm volatile(name ".4d" before "{%0, %1, %2, %3}" after                                                 \
                 :                                                                                          \
                 : ROOFTILE_TMA_OPERANDS, __VA_ARGS__                                                       \
                 : "memory");                                                                               \
  } else {                                                                                                  \
    asm volatile(name ".5d" before "{%0, %1, %2, %3, %4}" after                                             \
                 :                                                                                          \
                 : ROOFTILE_TMA_OPERANDS, __VA_ARGS__                                                       \
                 : "memory");                                                                               \
  }

// Global to this block's shared memory, counted at the barrier.
template <int kRank>
__device__ __forceinline__ void tma_load(void* s_tile, const TensorMap& map, const std::int32_t (&at)[kRank],
                                         Mbarrier* s_barrier) {
  ROOFTILE_TMA("cp.async.bulk.tensor",
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%6], [%5, ", "], [%7];",
               "r"(shared_address(s_tile)), "r"(shared_address(s_barrier)))
}
// The same, with what L2 is to do with these lines.
template <int kRank>
__device__ __forceinline__ void tma_load_by_policy(void* s_tile, const TensorMap& map,
                                                   const std::int32_t (&at)[kRank], Mbarrier* s_barrier,
                                                   L2Policy policy) {
  ROOFTILE_TMA("cp.async.bulk.tensor",
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%6], [%5, ",
               "], [%7], %8;", "r"(shared_address(s_tile)), "r"(shared_address(s_barrier)), "l"(policy.bits))
}

// To every block of the cluster whose bit (by rank) is set in `blocks`:
// the same place in each, counted at the same place's barrier.
template <int kRank>
__device__ __forceinline__ void tma_load_multicast(void* s_tile, const TensorMap& map,
                                                   const std::int32_t (&at)[kRank], Mbarrier* s_barrier,
                                                   std::uint16_t blocks) {
  ROOFTILE_TMA("cp.async.bulk.tensor",
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%6], [%5, ",
               "], [%7], %8;", "r"(shared_address(s_tile)), "r"(shared_address(s_barrier)), "h"(blocks))
}

// Shared memory to global, in this thread's bulk group.
template <int kRank>
__device__ __forceinline__ void tma_store(const TensorMap& map, const std::int32_t (&at)[kRank],
                                          const void* s_tile) {
  ROOFTILE_TMA("cp.async.bulk.tensor", ".global.shared::cta.tile.bulk_group [%5, ", "], [%6];",
               "r"(shared_address(s_tile)))
}

// Combines the tile into global memory, element by element and atomically,
// in this thread's bulk group. add: maps of i32, u32, u64 (which serves i64,
// too), f16, bf16, f32; min and max: 32- and 64-bit integers, f16, bf16.
template <BulkReduction kOp, int kRank>
__device__ __forceinline__ void tma_reduce(const TensorMap& map, const std::int32_t (&at)[kRank],
                                           const void* s_tile) {
  if constexpr (kOp == BulkReduction::add) {
    ROOFTILE_TMA("cp.reduce.async.bulk.tensor", ".global.shared::cta.add.tile.bulk_group [%5, ", "], [%6];",
                 "r"(shared_address(s_tile)))
  } else if constexpr (kOp == BulkReduction::min) {
    ROOFTILE_TMA("cp.reduce.async.bulk.tensor", ".global.shared::cta.min.tile.bulk_group [%5, ", "], [%6];",
                 "r"(shared_address(s_tile)))
  } else {
    ROOFTILE_TMA("cp.reduce.async.bulk.tensor", ".global.shared::cta.max.tile.bulk_group [%5, ", "], [%6];",
                 "r"(shared_address(s_tile)))
  }
}

// Brings a tile into L2; a hint. By a policy: with what L2 is to do with these lines.
template <int kRank>
__device__ __forceinline__ void tma_prefetch(const TensorMap& map, const std::int32_t (&at)[kRank]) {
  ROOFTILE_TMA("cp.async.bulk.prefetch.tensor", ".L2.global.tile [%5, ", "];", "n"(0))
}
template <int kRank>
__device__ __forceinline__ void tma_prefetch_by_policy(const TensorMap& map, const std::int32_t (&at)[kRank],
                                                       L2Policy policy) {
  ROOFTILE_TMA("cp.async.bulk.prefetch.tensor", ".L2.global.tile.L2::cache_hint [%5, ", "], %6;",
               "l"(policy.bits))
}

#undef ROOFTILE_TMA
#undef ROOFTILE_TMA_OPERANDS

#endif

}  // namespace rooftile::ROOFTILE_TARGET
