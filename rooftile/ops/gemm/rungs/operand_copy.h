// A block's copies of one operand: step by step along k, kDepth lines of kExtent elements each, into shared memory.
#pragma once

#include <cstdint>

#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/gemm_plan.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::CopyWay;

// An operand of one matrix of the batch: element (line, outer) is g[line * stride + outer * outer_stride]. Lines follow k, the outer
// axis is the rows of a or the columns of b.
template <class T>
struct Operand {
  const T* g;
  std::int64_t stride;
  std::int64_t outer_stride;
};

// What the ways have in common: a thread's copies, and that they lie as [line][outer] in shared memory, however they come.
template <class T, int kExtent, int kDepth, int kThreads, CopyWay kWay>
class CopyPlaces {
 public:
  // Single elements of one outer index, and the lines that a turned vector is stored to, are in banks of their own.
  static constexpr int kPitch = kExtent + (kWay == CopyWay::along    ? 0
                                           : kWay == CopyWay::turned ? 4
                                                                     : kVecElements<T>);
  static constexpr int kStageElements = kPitch * kDepth;
  static constexpr bool kHasGroups = kWay != CopyWay::turned;  // of cp.async
  static constexpr int kWidth = kWay == CopyWay::single ? 1 : kVecElements<T>;
  static constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
  static constexpr int kCopies = kExtent * kDepth / kThreads / kWidth;
  static constexpr int kOuterWidth = kWay == CopyWay::along ? kWidth : 1;  // of a copy along the outer axis
  // Turned, a warp asks for 128 bytes of each of 4 rows where a step has so many, else for 32 of 16: a line of L1 takes a cycle.
  static constexpr int kTurnedLanes = kDepth / kVecElements<T> >= 8 ? 8 : 2;
  // In line l element `outer` of such rows is at outer ^ swizzle(l): with the lines' pitch the 32 elements that a warp stores at once are
  // in as many banks. Vectors stay vectors, and it is one number for the lines of a slice.
  ROOFTILE_HOST_DEVICE static constexpr int swizzle(int line) {
    return kWay == CopyWay::turned && kTurnedLanes == 8 ? line / 8 % 4 * 4 : 0;
  }
  // Many copies at once would keep loads from shared memory waiting behind them: a step's come in several parts.
  static constexpr int kParts = kWay == CopyWay::single && kCopies % 4 == 0 ? 4 : 1;
  static_assert(kCopies * kThreads * kWidth == kExtent * kDepth, "all threads have as many copies");

  // Of elements `first` ... of `outer_extent` along the outer axis. What would come from behind the last one comes from the tile before,
  // or from all over this one: many copies of the same element wait for each other.
  __device__ __forceinline__ CopyPlaces(const Operand<T>& operand, std::int64_t line, std::int64_t first,
                                        std::int64_t outer_extent)
      : stride_(stride_of(operand) * static_cast<std::int64_t>(sizeof(T))),
        line_(first_line(operand.outer_stride == 1)),
        outer_(first_outer(operand.outer_stride == 1)) {
    const int before = first > 0 ? kExtent : 0;
    const auto valid = static_cast<int>(smaller(outer_extent - first, kExtent));
    g_ = reinterpret_cast<const char*>(operand.g + line * stride_of(operand) +
                                       (first - before) * outer_stride_of(operand));
#pragma unroll
    for (int i = 0; i < kOffsets; ++i) {
      int outer = outer_ + outers_before(i);
      outer = outer < valid ? outer + before
              : before > 0
                  ? outer
                  : outer / kOuterWidth * (valid / kOuterWidth) / (kExtent / kOuterWidth) * kOuterWidth;
      const std::int64_t offset = line_of(i) * stride_of(operand) + outer * outer_stride_of(operand);
      offsets_[i] = static_cast<std::uint32_t>(offset * static_cast<std::int64_t>(sizeof(T)));
    }
  }
  __device__ __forceinline__ void advance(std::int64_t lines) { g_ += lines * stride_; }
  __device__ __forceinline__ void wait(bool) const {}  // beside that for the groups of cp.async

 protected:
  // The i-th copy of a thread. along: a warp goes along a line. turned: by 4 outer indices and 8 vectors along k, or by 16 and 2. single:
  // by 8 lines and 4 outer indices, or by 2 and 16 where those lie side by side.
  static constexpr int kLanes = kWay == CopyWay::along    ? kExtent / kWidth
                                : kWay == CopyWay::turned ? kTurnedLanes
                                                          : 8;
  static constexpr int kRest = kThreads / kLanes;  // along the other axis
  // Turned copies behind the last outer index stand in the same rows, two vectors further.
  static constexpr int kOffsets = kWay == CopyWay::turned ? kExtent / kRest : kCopies;
  static_assert(kThreads % kLanes == 0 && (kWay == CopyWay::along || kExtent % kRest == 0));
  __device__ __forceinline__ static int first_line(bool is_outer_side_by_side) {
    const int thread = static_cast<int>(threadIdx.x);
    if (kWay == CopyWay::along) return thread / kLanes;
    if (kWay == CopyWay::turned) return thread % kLanes * kWidth;
    if (!is_outer_side_by_side) return thread % kLanes;
    // A warp's lines are as far from each other as they can be: neighbours would meet in banks.
    constexpr int kOfWarp = kRest < kWarpSize ? kWarpSize / kRest : 1;
    return thread / kRest % kOfWarp * (kLanes / kOfWarp) + thread / (kRest * kOfWarp);
  }
  __device__ __forceinline__ static int first_outer(bool is_outer_side_by_side) {
    const int thread = static_cast<int>(threadIdx.x);
    if (kWay == CopyWay::along) return thread % kLanes * kWidth;
    if (kWay == CopyWay::turned) return thread / kLanes;
    return is_outer_side_by_side ? thread % kRest : thread / kLanes;
  }
  __device__ __forceinline__ static constexpr int lines_before(int i) {
    return kWay == CopyWay::along ? i * kRest : i * kRest / kExtent * (kLanes * kWidth);
  }
  __device__ __forceinline__ static constexpr int outers_before(int i) {
    return kWay == CopyWay::along ? 0 : i * kRest % kExtent;
  }
  __device__ __forceinline__ int line_of(int i) const { return line_ + lines_before(i); }
  __device__ __forceinline__ int target_of(int i) const {
    return line_ * kPitch + (outer_ ^ swizzle(line_)) + lines_before(i) * kPitch + outers_before(i);
  }

  __device__ __forceinline__ const T* source_of(int i) const {
    return reinterpret_cast<const T*>(g_ + offsets_[i % kOffsets] + i / kOffsets * (kLanes * kBytes));
  }
  // 1 wherever the way says so, and known to the compiler.
  __device__ __forceinline__ static std::int64_t stride_of(const Operand<T>& operand) {
    return kWay == CopyWay::turned ? 1 : operand.stride;
  }
  __device__ __forceinline__ static std::int64_t outer_stride_of(const Operand<T>& operand) {
    return kWay == CopyWay::along ? 1 : operand.outer_stride;
  }

  const char* g_;  // of the first element of the next line, in the tile before if there is one
  std::int64_t stride_;
  int line_;                         // of the first copy
  int outer_;                        // of the first copy
  std::uint32_t offsets_[kOffsets];  // bytes
};

// Copies past the registers. What a thread has on the way in registers is for turned vectors alone.
template <class T, int kExtent, int kDepth, int kThreads, CopyWay kWay>
class OperandCopy : public CopyPlaces<T, kExtent, kDepth, kThreads, kWay> {
 public:
  using Base = CopyPlaces<T, kExtent, kDepth, kThreads, kWay>;
  using Base::Base, Base::kCopies, Base::kBytes, Base::kParts;
  struct Staged {};

  __device__ __forceinline__ void fetch_some(int, Staged&) const {}
  __device__ __forceinline__ void fetch(bool, Staged&) const {}
  __device__ __forceinline__ void store(const Staged&, T*) const {}
  // The next `lines` lines, kDepth at most: zeros behind them.
  __device__ __forceinline__ void copy_some(int lines, T* s_step) const {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const bool is_there = Base::line_of(i) < lines;
      cp_async_or_zero<kBytes>(s_step + Base::target_of(i),
                               is_there ? Base::source_of(i) : reinterpret_cast<const T*>(this->g_),
                               is_there ? kBytes : 0);
    }
  }
  // A part of the copies of kDepth lines, or none.
  __device__ __forceinline__ void copy(int part, bool is_there, T* s_step) const {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      if (i / (kCopies / kParts) == part)
        cp_async_or_zero<kBytes>(s_step + Base::target_of(i), Base::source_of(i), is_there ? kBytes : 0);
    }
  }
};

// 16 bytes along k, turned on their way through the registers: a vector's elements go to as many lines.
template <class T, int kExtent, int kDepth, int kThreads>
class OperandCopy<T, kExtent, kDepth, kThreads, CopyWay::turned>
    : public CopyPlaces<T, kExtent, kDepth, kThreads, CopyWay::turned> {
 public:
  using Base = CopyPlaces<T, kExtent, kDepth, kThreads, CopyWay::turned>;
  using Base::Base, Base::kCopies, Base::kWidth, Base::kPitch;
  struct Staged {
    Vec<T, kVecElements<T>> vecs[kCopies];
  };

  // The next `lines` lines, a multiple of a vector: zeros behind them.
  __device__ __forceinline__ void fetch_some(int lines, Staged& r) const {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      r.vecs[i] = {};
      if (Base::line_of(i) < lines) r.vecs[i] = vector(i);
    }
  }
  // kDepth lines, or none.
  __device__ __forceinline__ void fetch(bool is_there, Staged& r) const {
    if (!is_there) return;
#pragma unroll
    for (int i = 0; i < kCopies; ++i) r.vecs[i] = vector(i);
  }
  __device__ __forceinline__ void store(const Staged& r, T* s_step) const {
#pragma unroll
    for (int i = 0; i < kCopies; ++i)
#pragma unroll
      for (int e = 0; e < kWidth; ++e) s_step[Base::target_of(i) + e * kPitch] = r.vecs[i][e];
  }
  __device__ __forceinline__ void copy_some(int, T*) const {}
  __device__ __forceinline__ void copy(int, bool, T*) const {}

 private:
  __device__ __forceinline__ Vec<T, kWidth> vector(int i) const {
    return load_vec<LoadPolicy::no_allocate>(Base::source_of(i));
  }
};

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
