// wgmma: a warpgroup's product of 64 x n, asynchronously: d = a * b + d, or a * b. T is __half or __nv_bfloat16, sums are
// float, k is 16; n, a multiple of 8 up to 256, is twice the number of a thread's sums.
//
//   float sums[128 / 2];
//   ... s_a and s_b have landed (mbarrier_wait), or were written: fence_proxy_async by the writers, then a barrier ...
//   wgmma_fence(sums);  // what touched sums before is over
//   for (int k = 0; k < 4; ++k) wgmma<T>(sums, a.advanced(32 * k), b.advanced(32 * k), k > 0);
//   wgmma_commit();         // a group
//   wgmma_wait<0>(sums);    // it has ended: sums are there, and s_a and s_b may be overwritten
//
// A warpgroup is four warps of which the first's number in the block is a multiple of 4. All of its 128 threads make the
// same calls, fence, commit and wait too, in the same order.
//
// Between the call and the wait for its group
//   - no thread touches its sums, nor overwrites what it gave as a; another wgmma of the same width may add to them;
//   - nobody overwrites the operands in shared memory: wgmma reads them at any time, by the asynchronous proxy.
// wgmma_fence comes before the first wgmma, and again before one whose sums or fragments of a were touched since the last
// one. The overloads that take `sums` tie them to the place, too, so that the compiler moves no use of them across; a group
// that several arrays belong to: wgmma_tie(other) behind the wait.
//
// b comes from shared memory (matrix_descriptor.h). a comes from there as well, or from registers: those of mma_m16n8k16
// (../sm80/mma.h), of rows 16 w to 16 w + 15 for warp w of the four. Sum i of a thread, with g = lane / 4, t = lane % 4
// (docs/fragments.md draws it):
//
//   row 16 w + g + 8 (i / 2 % 2)        column 8 (i / 4) + 2 t + i % 2
//
// Products are exact; hardware adds several at once and truncates, the simulated SM adds one by one in order of k. There
// it happens in the wait that covers it, the latest moment that is legal, so that an operand that is overwritten too early
// gives a wrong result; sums change in that wait, too. What a was in registers is taken with the call.
//
// Source: PTX ISA, Asynchronous Warpgroup Level Matrix Instructions: wgmma.mma_async, wgmma.fence, wgmma.commit_group,
// wgmma.wait_group; Register Fragments for wgmma.mma_async.m64nNk16.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/caller.h"
#include "rooftile/device/sm80/mma.h"
#include "rooftile/device/sm90a/matrix_descriptor.h"
#include "rooftile/device/target.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/matrix_element.h"
#include "rooftile/sim/wgmma.h"
#else
#include "rooftile/device/sm90a/wgmma_registers.h"
#endif

namespace rooftile::ROOFTILE_TARGET {

// Of a thread: half the width of the product.
inline constexpr bool is_wgmma_sums(int count) { return count >= 4 && count <= 128 && count % 4 == 0; }

#if defined(ROOFTILE_SIM)

namespace detail_wgmma {
template <MatrixMajor kMajor>
simt::detail::MatrixOperand operand(const MatrixDescriptor<kMajor>& descriptor) {
  const MatrixDescriptorFields fields = matrix_descriptor_fields(descriptor.bits);
  return {descriptor.s_start, fields.leading_bytes, fields.stride_bytes, fields.swizzle,
          kMajor == MatrixMajor::mn};
}
}  // namespace detail_wgmma

template <class T, int kSums, MatrixMajor kMajorA, MatrixMajor kMajorB>
inline void wgmma(float (&sums)[kSums], const MatrixDescriptor<kMajorA>& a,
                  const MatrixDescriptor<kMajorB>& b, bool accumulate ROOFTILE_AND_CALLER) {
  static_assert(kIsMmaOperand<T>, "operands are __half or __nv_bfloat16");
  static_assert(is_wgmma_sums(kSums), "4 to 128 sums of a thread, by fours");
  simt::detail::wgmma({.element = simt::detail::kMatrixElement<T>,
                       .columns = 2 * kSums,
                       .accumulate = accumulate,
                       .a_in_registers = false,
                       .a = detail_wgmma::operand(a),
                       .b = detail_wgmma::operand(b)},
                      sums, nullptr, where);
}
template <class T, int kSums, MatrixMajor kMajorB>
inline void wgmma(float (&sums)[kSums], const std::uint32_t (&a)[4], const MatrixDescriptor<kMajorB>& b,
                  bool accumulate ROOFTILE_AND_CALLER) {
  static_assert(kIsMmaOperand<T>, "operands are __half or __nv_bfloat16");
  static_assert(is_wgmma_sums(kSums), "4 to 128 sums of a thread, by fours");
  simt::detail::wgmma({.element = simt::detail::kMatrixElement<T>,
                       .columns = 2 * kSums,
                       .accumulate = accumulate,
                       .a_in_registers = true,
                       .a = {},
                       .b = detail_wgmma::operand(b)},
                      sums, a, where);
}

template <class T, int kCount>
inline void wgmma_tie(T (&)[kCount]) {}
inline void wgmma_fence(ROOFTILE_CALLER) { simt::detail::wgmma_fence(where); }
inline void wgmma_commit(ROOFTILE_CALLER) { simt::detail::wgmma_commit(where); }
template <int kPending>
inline void wgmma_wait(ROOFTILE_CALLER) {
  static_assert(kPending >= 0 && kPending <= 7, "0 to 7 groups may stay under way");
  simt::detail::wgmma_wait(kPending, where);
}

#else

// No instruction: the compiler moves no use of these registers across.
template <int kCount>
__device__ __forceinline__ void wgmma_tie(float (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}
template <int kCount>
__device__ __forceinline__ void wgmma_tie(std::uint32_t (&registers)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+r"(registers[i])::"memory");
}

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// Closes this warpgroup's group: the products since the last one.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until at most the kPending groups committed last are under way.
template <int kPending>
__device__ __forceinline__ void wgmma_wait() {
  static_assert(kPending >= 0 && kPending <= 7, "0 to 7 groups may stay under way");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Both operands from shared memory.
template <class T, int kSums, MatrixMajor kMajorA, MatrixMajor kMajorB>
__device__ __forceinline__ void wgmma(float (&sums)[kSums], const MatrixDescriptor<kMajorA>& a,
                                      const MatrixDescriptor<kMajorB>& b, bool accumulate) {
  static_assert(kIsMmaOperand<T>, "operands are __half or __nv_bfloat16");
  static_assert(is_wgmma_sums(kSums), "4 to 128 sums of a thread, by fours");
#define ROOFTILE_WGMMA(type, width, o0, o1, o2, o3, o4)                                                 \
  asm volatile("{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, " o2                                 \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #width "k16.f32." type "." type                \
               " {" ROOFTILE_WGMMA_REGISTERS_##width "}, " o0 ", " o1 ", accumulate, 1, 1, " o3 ", " o4 \
                                                     ";\n}"                                             \
               : ROOFTILE_WGMMA_OPERANDS_##width                                                        \
               : "l"(a.bits), "l"(b.bits), "r"(static_cast<int>(accumulate)),                           \
                 "n"(static_cast<int>(kMajorA)), "n"(static_cast<int>(kMajorB)))
#define ROOFTILE_WGMMA_WIDTH(width, o0, o1, o2, o3, o4, o5, o6) \
  if constexpr (2 * kSums == width) {                           \
    if constexpr (std::is_same_v<T, __half>) {                  \
      ROOFTILE_WGMMA("f16", width, o0, o1, o2, o3, o4);         \
    } else {                                                    \
      ROOFTILE_WGMMA("bf16", width, o0, o1, o2, o3, o4);        \
    }                                                           \
  }
  ROOFTILE_WGMMA_FOR_EACH_WIDTH(ROOFTILE_WGMMA_WIDTH)
#undef ROOFTILE_WGMMA_WIDTH
#undef ROOFTILE_WGMMA
}

// a from registers.
template <class T, int kSums, MatrixMajor kMajorB>
__device__ __forceinline__ void wgmma(float (&sums)[kSums], const std::uint32_t (&a)[4],
                                      const MatrixDescriptor<kMajorB>& b, bool accumulate) {
  static_assert(kIsMmaOperand<T>, "operands are __half or __nv_bfloat16");
  static_assert(is_wgmma_sums(kSums), "4 to 128 sums of a thread, by fours");
#define ROOFTILE_WGMMA(type, width, o0, o1, o2, o3, o4, o5, o6)                                              \
  asm volatile("{\n.reg .pred accumulate;\nsetp.ne.b32 accumulate, " o5                                      \
               ", 0;\nwgmma.mma_async.sync.aligned.m64n" #width "k16.f32." type "." type                     \
               " {" ROOFTILE_WGMMA_REGISTERS_##width "}, {" o0 ", " o1 ", " o2 ", " o3 "}, " o4              \
                                                     ", accumulate, 1, 1, " o6 ";\n}"                        \
               : ROOFTILE_WGMMA_OPERANDS_##width                                                             \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b.bits), "r"(static_cast<int>(accumulate)), \
                 "n"(static_cast<int>(kMajorB)))
#define ROOFTILE_WGMMA_WIDTH(width, o0, o1, o2, o3, o4, o5, o6)  \
  if constexpr (2 * kSums == width) {                            \
    if constexpr (std::is_same_v<T, __half>) {                   \
      ROOFTILE_WGMMA("f16", width, o0, o1, o2, o3, o4, o5, o6);  \
    } else {                                                     \
      ROOFTILE_WGMMA("bf16", width, o0, o1, o2, o3, o4, o5, o6); \
    }                                                            \
  }
  ROOFTILE_WGMMA_FOR_EACH_WIDTH(ROOFTILE_WGMMA_WIDTH)
#undef ROOFTILE_WGMMA_WIDTH
#undef ROOFTILE_WGMMA
}

#endif

template <class T, int kCount>
__device__ __forceinline__ void wgmma_fence(T (&registers)[kCount] ROOFTILE_AND_CALLER) {
  wgmma_tie(registers);
  wgmma_fence(ROOFTILE_HERE);
}

template <int kPending, class T, int kCount>
__device__ __forceinline__ void wgmma_wait(T (&registers)[kCount] ROOFTILE_AND_CALLER) {
  wgmma_wait<kPending>(ROOFTILE_HERE);
  wgmma_tie(registers);
}

}  // namespace rooftile::ROOFTILE_TARGET
