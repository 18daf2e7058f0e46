// stmatrix: a warp writes 1, 2 or 4 matrices of 8 x 8 elements of 16 bits, as the fragments of mma and wgmma hold them, to
// shared memory: ldmatrix (../sm80/ldmatrix.h) the other way.
//
//   std::uint32_t r[2] = {...};  // sums of 16 x 8 as pairs: registers 0,1 of a lane, then 2,3
//   stmatrix(&s_tile[lane % 16 * pitch], r);
//
// Lane l names row l % 8 of matrix l / 8: 16 bytes of the block's shared memory, at a multiple of 16 bytes; of 1 or 2
// matrices the first 8 or 16 lanes' rows count. r[i] of lane l holds elements 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of
// matrix i; transposed: of its column l / 4.
//
// Banks as of ldmatrix. All 32 lanes make the same call. The writes are those of ordinary stores, by the lanes that name
// the rows: before others read them stands __syncwarp() or a barrier, before a TMA store or wgmma does
// fence_proxy_async (fence.h), too.
//
// Source: PTX ISA, Warp-level matrix store instruction: stmatrix.
#pragma once

#include <cstdint>

#include "rooftile/device/caller.h"
#include "rooftile/device/shared_address.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/matrix_rows.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

namespace detail_stmatrix {

template <bool kTransposed, int kMatrices>
__device__ __forceinline__ void store(void* s_row, const std::uint32_t (&r)[kMatrices] ROOFTILE_AND_CALLER) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "one, two or four matrices");
#if defined(ROOFTILE_SIM)
  simt::detail::store_matrix_rows(s_row, r, {kMatrices, kTransposed}, where);
#else
  const std::uint32_t address = shared_address(s_row);
#define ROOFTILE_STMATRIX(transposed)                                                             \
  if constexpr (kMatrices == 1) {                                                                 \
    asm volatile("stmatrix.sync.aligned.m8n8.x1" transposed ".shared.b16 [%0], {%1};"             \
                 :                                                                                \
                 : "r"(address), "r"(r[0])                                                        \
                 : "memory");                                                                     \
  } else if constexpr (kMatrices == 2) {                                                          \
    asm volatile("stmatrix.sync.aligned.m8n8.x2" transposed ".shared.b16 [%0], {%1, %2};"         \
                 :                                                                                \
                 : "r"(address), "r"(r[0]), "r"(r[1])                                             \
                 : "memory");                                                                     \
  } else {                                                                                        \
    asm volatile("stmatrix.sync.aligned.m8n8.x4" transposed ".shared.b16 [%0], {%1, %2, %3, %4};" \
                 :                                                                                \
                 : "r"(address), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])                       \
                 : "memory");                                                                     \
  }
  if constexpr (kTransposed) {
    ROOFTILE_STMATRIX(".trans")
  } else {
    ROOFTILE_STMATRIX("")
  }
#undef ROOFTILE_STMATRIX
#endif
}

}  // namespace detail_stmatrix

template <int kMatrices>
__device__ __forceinline__ void stmatrix(void* s_row,
                                         const std::uint32_t (&r)[kMatrices] ROOFTILE_AND_CALLER) {
  detail_stmatrix::store<false>(s_row, r ROOFTILE_AND_HERE);
}

template <int kMatrices>
__device__ __forceinline__ void stmatrix_transposed(void* s_row,
                                                    const std::uint32_t (&r)[kMatrices] ROOFTILE_AND_CALLER) {
  detail_stmatrix::store<true>(s_row, r ROOFTILE_AND_HERE);
}

}  // namespace rooftile::ROOFTILE_TARGET
