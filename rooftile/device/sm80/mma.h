// Products of a warp's tensor core: d = a * b + c for a of 16 x k (row-major), b of k x 8 (column-major) and
// sums of 16 x 8 in float; k is 16 or 8. T is __half or __nv_bfloat16; a register holds two, the one of the
// lower row or column index in its low half.
//
//   std::uint32_t a[4], b[2];              // by ldmatrix (ldmatrix.h), or packed by hand
//   float sums[4] = {};
//   mma_m16n8k16<__half>(sums, a, b, sums);  // d may be c
//
// Who holds what, with g = lane / 4 and t = lane % 4 (docs/fragments.md draws it):
//
//   a[0]  row g      columns 2t, 2t+1         b[0]  rows 2t, 2t+1      column g
//   a[1]  row g + 8  columns 2t, 2t+1         b[1]  rows 2t+8, 2t+9    column g    (k = 16)
//   a[2]  row g      columns 2t+8, 2t+9  (k = 16)
//   a[3]  row g + 8  columns 2t+8, 2t+9  (k = 16)
//   c[0], c[1], d[0], d[1]   row g,      columns 2t, 2t+1
//   c[2], c[3], d[2], d[3]   row g + 8,  columns 2t, 2t+1
//
// All 32 lanes of a warp make the same call. Products are exact. Hardware adds several of them at once and truncates;
// the simulated SM adds them one by one in order of k, each sum rounded to float: compare within a tolerance, or by
// sums that are exact.
//
// Source: PTX ISA, Warp-level matrix instructions, mma: Matrix Fragments for mma.m16n8k8 and mma.m16n8k16 with
// floating point type.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/caller.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/matrix_element.h"
#include "rooftile/sim/wmma_warp.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

// Operands that the tensor core takes two to a register, with sums in float.
template <class T>
inline constexpr bool kIsMmaOperand = std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>;

template <class T>
__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2],
                                             const float (&c)[4] ROOFTILE_AND_CALLER) {
  static_assert(kIsMmaOperand<T>, "operands are __half or __nv_bfloat16");
#if defined(ROOFTILE_SIM)
  simt::detail::mma_sync(simt::detail::kMmaProduct<simt::detail::kMatrixElement<T>, 16>, {a, b, c, d}, where);
#else
#define ROOFTILE_MMA(type)                                                                               \
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                                    \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                          \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), \
                 "f"(c[2]), "f"(c[3]))
  if constexpr (std::is_same_v<T, __half>) {
    ROOFTILE_MMA("f16");
  } else {
    ROOFTILE_MMA("bf16");
  }
#undef ROOFTILE_MMA
#endif
}

template <class T>
__device__ __forceinline__ void mma_m16n8k8(float (&d)[4], const std::uint32_t (&a)[2],
                                            const std::uint32_t (&b)[1],
                                            const float (&c)[4] ROOFTILE_AND_CALLER) {
  static_assert(kIsMmaOperand<T>, "operands are __half or __nv_bfloat16");
#if defined(ROOFTILE_SIM)
  simt::detail::mma_sync(simt::detail::kMmaProduct<simt::detail::kMatrixElement<T>, 8>, {a, b, c, d}, where);
#else
#define ROOFTILE_MMA(type)                                                 \
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." type "." type       \
               ".f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};" \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])            \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]))
  if constexpr (std::is_same_v<T, __half>) {
    ROOFTILE_MMA("f16");
  } else {
    ROOFTILE_MMA("bf16");
  }
#undef ROOFTILE_MMA
#endif
}

}  // namespace rooftile::ROOFTILE_TARGET
