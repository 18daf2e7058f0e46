// ldmatrix: a warp reads 1, 2 or 4 matrices of 8 x 8 elements of 16 bits from shared memory, and each lane gets what the
// fragments of mma (mma.h) ask for.
//
//   std::uint32_t a[4];  // of a row-major tile of 16 x 16 halves, its row of `pitch` halves
//   ldmatrix(a, &s_tile[lane % 16 * pitch + lane / 16 * 8]);
//
// Lane l names row l % 8 of matrix l / 8: 16 bytes that may lie anywhere in the block's shared memory, at a multiple of
// 16 bytes; of 1 or 2 matrices the first 8 or 16 lanes' rows count. Lane l gets, of matrix i in r[i], elements 2 (l % 4)
// and 2 (l % 4) + 1 of row l / 4; transposed: of column l / 4, elements 2 (l % 4) and 2 (l % 4) + 1 down.
//
//   memory, row by row               r[i] of the lanes            r[i] transposed
//   row 0 |  0  1  2  3 ...  7       lane 0: 0,1  lane 1: 2,3     lane 0: 0,8   lane 1: 16,24
//   row 1 |  8  9 10 11 ... 15       lane 4: 8,9  lane 5: 10,11   lane 4: 1,9   lane 5: 17,25
//
// Eight rows are read at once where they lie in different banks: in all 32 of them, as with a pitch of 16 bytes times an
// odd number or with rows that are swizzled (swizzle.h). All 32 lanes make the same call. It orders no accesses: between
// the stores of other lanes and it stands __syncwarp() or a barrier.
//
// For any GPU from sm_75. Source: PTX ISA, Warp-level matrix load instruction: ldmatrix.
#pragma once

#include <cstdint>

#include "rooftile/device/caller.h"
#include "rooftile/device/shared_address.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/matrix_rows.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

namespace detail_ldmatrix {

template <bool kTransposed, int kMatrices>
__device__ __forceinline__ void load(std::uint32_t (&r)[kMatrices], const void* s_row ROOFTILE_AND_CALLER) {
  static_assert(kMatrices == 1 || kMatrices == 2 || kMatrices == 4, "one, two or four matrices");
#if defined(ROOFTILE_SIM)
  simt::detail::load_matrix_rows(r, s_row, {kMatrices, kTransposed}, where);
#else
  const std::uint32_t address = shared_address(s_row);
#define ROOFTILE_LDMATRIX(transposed)                                                             \
  if constexpr (kMatrices == 1) {                                                                 \
    asm volatile("ldmatrix.sync.aligned.m8n8.x1" transposed ".shared.b16 {%0}, [%1];"             \
                 : "=r"(r[0])                                                                     \
                 : "r"(address)                                                                   \
                 : "memory");                                                                     \
  } else if constexpr (kMatrices == 2) {                                                          \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2" transposed ".shared.b16 {%0, %1}, [%2];"         \
                 : "=r"(r[0]), "=r"(r[1])                                                         \
                 : "r"(address)                                                                   \
                 : "memory");                                                                     \
  } else {                                                                                        \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4" transposed ".shared.b16 {%0, %1, %2, %3}, [%4];" \
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])                                 \
                 : "r"(address)                                                                   \
                 : "memory");                                                                     \
  }
  if constexpr (kTransposed) {
    ROOFTILE_LDMATRIX(".trans")
  } else {
    ROOFTILE_LDMATRIX("")
  }
#undef ROOFTILE_LDMATRIX
#endif
}

}  // namespace detail_ldmatrix

template <int kMatrices>
__device__ __forceinline__ void ldmatrix(std::uint32_t (&r)[kMatrices],
                                         const void* s_row ROOFTILE_AND_CALLER) {
  detail_ldmatrix::load<false>(r, s_row ROOFTILE_AND_HERE);
}

template <int kMatrices>
__device__ __forceinline__ void ldmatrix_transposed(std::uint32_t (&r)[kMatrices],
                                                    const void* s_row ROOFTILE_AND_CALLER) {
  detail_ldmatrix::load<true>(r, s_row ROOFTILE_AND_HERE);
}

}  // namespace rooftile::ROOFTILE_TARGET
