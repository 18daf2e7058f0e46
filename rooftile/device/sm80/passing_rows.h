// Rows that are read once, of a tensor of which L2 holds a part: while the kernel runs they stay there in front of what it writes.
//
//   const PassingRows passing(window);  // passing_window() of core/row_cut.h; 0: as any rows
//   row.load(passing..., passing);      // RegisterRow's load_if
//   ... the row's results are stored ...
//   passing.let_go(r, rows, bytes, [&](std::int64_t row) { return g_x + row * pitch; }, index, threads);
//
// What leaves L2 then are lines that were written, soon and in the order in which they were: a kernel that reads as much as it writes
// takes 2 to 5 % less. A mark would outlive the kernel, in front of everything that comes later: each of the last `window` rows takes
// back its own and that of the row `window` before it. Of earlier rows none is there any more.
// Source: PTX ISA, createpolicy (L2::evict_last), applypriority.
#pragma once

#include <cstdint>

#include "rooftile/device/raw_vector.h"
#include "rooftile/device/sm80/l2_policy.h"

namespace rooftile::ROOFTILE_TARGET {

class PassingRows {
 public:
  __device__ __forceinline__ explicit PassingRows(std::int64_t window)
      : window_(window), policy_(window > 0 ? l2_evict_last() : l2_evict_normal()) {}

  // For copies.
  [[nodiscard]] __device__ __forceinline__ L2Policy policy() const { return policy_; }

  // By a predicate, not by a branch: the loads of a row are on their way one behind the other.
  __device__ __forceinline__ void operator()(bool is_there, const void* g, RawVector& raw) const {
#if defined(ROOFTILE_SIM)
    if (is_there) raw = load_bytes<kVecBytes>(g);
#else
    asm volatile(
        "{\n"
        ".reg .pred is_there;\n"
        "setp.ne.b32 is_there, %4, 0;\n"
        "@is_there ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%5], %6;\n"
        "}"
        : "+r"(raw.x), "+r"(raw.y), "+r"(raw.z), "+r"(raw.w)
        : "r"(static_cast<int>(is_there)), "l"(g), "l"(policy_.bits)
        : "memory");
#endif
  }

  // Row r of `rows`, of so many bytes, has been read by its threads; each of them calls this. g_row(r): where a row begins.
  template <class RowAt>
  __device__ __forceinline__ void let_go(std::int64_t r, std::int64_t rows, std::int64_t bytes, RowAt g_row,
                                         int index, int threads) const {
    if (window_ == 0 || r >= rows || r < rows - window_) return;
    as_others(g_row(r), bytes, index, threads);
    if (r >= window_) as_others(g_row(r - window_), bytes, index, threads);
  }

 private:
  static constexpr std::uintptr_t kLineBytes = 128;

  __device__ __forceinline__ static void as_others(const void* g, std::int64_t bytes, int index,
                                                   int threads) {
    const auto begin = reinterpret_cast<std::uintptr_t>(g);
    const std::uintptr_t end = begin + static_cast<std::uintptr_t>(bytes);
    for (std::uintptr_t line =
             begin / kLineBytes * kLineBytes + static_cast<std::uintptr_t>(index) * kLineBytes;
         line < end; line += static_cast<std::uintptr_t>(threads) * kLineBytes) {
#if !defined(ROOFTILE_SIM)
      asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(line) : "memory");
#endif
    }
  }

  std::int64_t window_;
  L2Policy policy_;
};

}  // namespace rooftile::ROOFTILE_TARGET
