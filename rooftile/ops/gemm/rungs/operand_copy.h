// A block's copies of one operand: step by step along k, kDepth lines of kExtent elements each, into shared memory.
#pragma once

#include <cstdint>

#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::kDepth;

// An operand of one matrix of the batch: element (step, outer) is g[step * stride + outer * outer_stride].
template <class T>
struct Operand {
  const T* g;
  std::int64_t stride;
  std::int64_t outer_stride;
};

// kVectors: elements along the outer axis lie side by side, and are copied by 16 bytes; else one by one, whatever the strides.
// Lines are 16 bytes longer than they need to be, or elements of one outer index would meet in one bank.
template <class T, int kExtent, int kThreads, bool kVectors>
class OperandCopy {
 public:
  static constexpr int kPitch = kExtent + kVecElements<T>;
  static constexpr int kStageElements = kPitch * kDepth;
  static constexpr int kCopies = kExtent * kDepth / kThreads / (kVectors ? kVecElements<T> : 1);

  // Of elements `first` ... of `outer_extent` along the outer axis: behind the last one, the last one again. From line `line` on.
  __device__ __forceinline__ OperandCopy(const Operand<T>& operand, std::int64_t line, std::int64_t first,
                                         std::int64_t outer_extent)
      : g_(reinterpret_cast<const char*>(operand.g + line * operand.stride + first * operand.outer_stride)),
        stride_(operand.stride * static_cast<std::int64_t>(sizeof(T))) {
    const auto last = static_cast<int>(smaller(outer_extent - first, kExtent)) - kWidth;
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const int outer = outer_of(i);
      const std::int64_t offset =
          step_of(i) * operand.stride + (outer < last ? outer : last) * operand.outer_stride;
      offsets_[i] = static_cast<std::uint32_t>(offset * static_cast<std::int64_t>(sizeof(T)));
    }
  }

  // The i-th copy of this thread of the next `lines` lines, kDepth at most: zeros behind them.
  __device__ __forceinline__ void copy_some(int i, int lines, T* s_stage) const {
    const bool is_there = step_of(i) < lines;
    cp_async_or_zero<kBytes>(s_stage + target_of(i), is_there ? g_ + offsets_[i] : g_, is_there ? kBytes : 0);
  }
  // The same of kDepth lines, or of none.
  __device__ __forceinline__ void copy(int i, bool is_there, T* s_stage) const {
    cp_async_or_zero<kBytes>(s_stage + target_of(i), g_ + offsets_[i], is_there ? kBytes : 0);
  }
  __device__ __forceinline__ void advance(int lines) { g_ += lines * stride_; }

 private:
  static constexpr int kWidth = kVectors ? kVecElements<T> : 1;
  static constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
  static constexpr int kLine = kExtent / kWidth;  // copies of a line
  static_assert(kCopies * kThreads * kWidth == kExtent * kDepth, "all threads have as many copies");
  static_assert(!kVectors || kThreads % kLine == 0, "a thread's copies stand below each other");

  // Vectors: a warp along a line. Elements: 8 lines by 4 elements, which are banks and sectors of their own however they lie.
  __device__ __forceinline__ static int step_of(int i) {
    const int thread = static_cast<int>(threadIdx.x);
    return kVectors ? thread / kLine + i * (kThreads / kLine) : thread % kDepth;
  }
  __device__ __forceinline__ static int outer_of(int i) {
    const int thread = static_cast<int>(threadIdx.x);
    return kVectors ? thread % kLine * kWidth : thread / kDepth + i * (kThreads / kDepth);
  }
  __device__ __forceinline__ static int target_of(int i) { return step_of(i) * kPitch + outer_of(i); }

  const char* g_;  // of the block's first element of the next line
  std::int64_t stride_;
  std::uint32_t offsets_[kCopies];  // bytes
};

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
