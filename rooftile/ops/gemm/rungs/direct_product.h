// Fragments of tensor cores straight from global memory, for products of a few rows.
//
// Which element along k a fragment's place has is nobody's business, as long as both operands agree. So a lane loads 16 bytes of a row, and
// they are what it has of two products of 16 along k: the words 0 and 1, and the words 2 and 3.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/device/raw_vector.h"
#include "rooftile/device/sm80/mma.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/few_results.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// An operand whose rows run along k: rows of a, or columns of b.
struct DirectOperand {
  const std::uint16_t* g = nullptr;
  std::int64_t row = 0;  // strides, in elements
  std::int64_t batch = 0;
  std::int64_t rows = 0;
};

// An mma's 8 rows are 8 / kSlices columns of b, and as many slices of each along k: a warp's load is 64 kSlices bytes of a column. Its columns
// are 8 rows of a, an mma for each slice, of which what meets its own slice counts; or, of a single row of a, its slices.
// kGroups of 16 / kSlices columns of b to a warp, each kParts times in a step. kWarps part a block's steps; a warp has kAhead steps on their way.
template <class T, int kOfA, int kSlices, int kGroups, int kParts, int kWarps, int kAhead>
struct DirectProduct {
  static_assert(kOfA % 8 == 0 || (kOfA == 1 && kSlices == 8),
                "an mma's columns are rows of a, or slices of one");
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kRows = kOfA;
  static constexpr int kHalf = 8 / kSlices;  // columns of b
  static constexpr int kColumns = 2 * kHalf * kGroups;
  static constexpr int kEights = kOfA == 1 ? 1 : kOfA / 8;  // of rows of a
  static constexpr int kSliceTiles = kOfA == 1 ? 1 : kSlices;
  static constexpr int kElements = kVecBytes / 2;
  static constexpr int kPart = 4 * kElements * kSlices;  // along k
  static constexpr int kDepth = kPart * kParts;
  static constexpr int kWarpFloats = FewTile::floats(kRows, kColumns);
  static_assert(kColumns == (kOfA == 1 ? gemm_plan::kDirectColumnsOfOne : gemm_plan::kDirectColumns));

  // What a lane has of a step.
  struct Step {
    RawVector columns[kParts][kGroups][2];
    RawVector rows[kParts][kEights][kSliceTiles];
  };

  // Of the block's columns from `first` on. Behind the last row and column the last ones again: their sums go nowhere.
  __device__ __forceinline__ DirectProduct(const DirectOperand& a, const DirectOperand& b, int k,
                                           unsigned batch, std::int64_t first)
      : k_(k), along_(warp_index() * kDepth + lane_index() % (4 * kSlices) * kElements) {
    along_row_ = kOfA == 1 ? along_ : warp_index() * kDepth + lane_index() % 4 * kElements;
#pragma unroll
    for (int eight = 0; eight < kEights; ++eight) {
      const int row = kOfA == 1 ? 0 : 8 * eight + lane_index() / 4;
      g_rows_[eight] = a.g + batch * a.batch + smaller(std::int64_t{row}, a.rows - 1) * a.row;
    }
#pragma unroll
    for (int group = 0; group < kGroups; ++group)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        g_columns_[group][half] =
            b.g + batch * b.batch +
            smaller(first + (2 * group + half) * kHalf + lane_index() / (4 * kSlices), b.rows - 1) * b.row;
  }

  __device__ __forceinline__ void add_all() {
    // Whole steps of this warp.
    const int left = k_ / kDepth - warp_index();
    const int steps = left > 0 ? ceil_div(left, kWarps) : 0;
    Step ring[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      if (i < steps) ask<false>(ring[i], i);
#pragma unroll 1
    for (int base = 0; base < steps; base += kAhead) {
#pragma unroll
      for (int i = 0; i < kAhead; ++i) {
        if (base + i >= steps) break;
        add(ring[i]);
        if (base + i + kAhead < steps) ask<false>(ring[i], base + i + kAhead);
      }
    }
    if (k_ % kDepth != 0 && k_ / kDepth % kWarps == warp_index()) {  // what is left, and zeros
      Step step;
      ask<true>(step, steps);
      add(step);
    }
  }

  // Into shared memory; by a tile of each warp's own.
  __device__ __forceinline__ void gather(const FewTile& tile) const {
    const int lane = lane_index();
    const int slice = lane / 4 % kSlices;
#pragma unroll
    for (int group = 0; group < kGroups; ++group)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int column = (2 * group + half) * kHalf + lane / (4 * kSlices);
        if constexpr (kOfA == 1) {
          // Row g and column g of the products are slice g of both: with lane g / 2 of the row's four.
          const float* of = sums_[group][0][0] + 2 * half;
          const float own = slice % 2 == 1 ? of[1] : of[0];
          const float sum =
              warp_reduce(lane % 4 == slice / 2 ? own : 0.0f, [](float x, float y) { return x + y; });
          if (lane == 0) tile.at(0, column) = sum;
        } else {
#pragma unroll
          for (int eight = 0; eight < kEights; ++eight)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              float sum = sums_[group][eight][0][2 * half + i];
#pragma unroll
              for (int s = 1; s < kSlices; ++s) sum = slice == s ? sums_[group][eight][s][2 * half + i] : sum;
#pragma unroll
              for (int s = 1; s < kSlices; s *= 2) sum += shuffle_xor(sum, 4 * s);
              if (slice == 0) tile.at(8 * eight + lane % 4 * 2 + i, column) = sum;
            }
        }
      }
  }

 private:
  // kIsCut: k ends within the step; what is behind is zeros.
  template <bool kIsCut>
  __device__ __forceinline__ void ask(Step& step, int index) const {
    const int at = index * (kWarps * kDepth);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const int along = along_ + at + kPart * part;
      const bool is_there = !kIsCut || along < k_;
#pragma unroll
      for (int group = 0; group < kGroups; ++group)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          step.columns[part][group][half] = kept(load_bytes<kVecBytes, LoadPolicy::no_allocate>(
                                                     g_columns_[group][half] + (is_there ? along : 0)),
                                                 is_there);
#pragma unroll
      for (int tile = 0; tile < kSliceTiles; ++tile) {
        const int along_row = along_row_ + at + kPart * part + 4 * kElements * tile;
        const bool is_row_there = !kIsCut || along_row < k_;
#pragma unroll
        for (int eight = 0; eight < kEights; ++eight)
          step.rows[part][eight][tile] =
              kept(load_bytes<kVecBytes>(g_rows_[eight] + (is_row_there ? along_row : 0)), is_row_there);
      }
    }
  }
  // Without a branch: all lanes come to the products together.
  __device__ __forceinline__ static RawVector kept(RawVector raw, bool is_there) {
    return {is_there ? raw.x : 0, is_there ? raw.y : 0, is_there ? raw.z : 0, is_there ? raw.w : 0};
  }
  __device__ __forceinline__ void add(const Step& step) {
#pragma unroll
    for (int part = 0; part < kParts; ++part)
#pragma unroll
      for (int group = 0; group < kGroups; ++group) {
        const RawVector& low = step.columns[part][group][0];
        const RawVector& high = step.columns[part][group][1];
        const std::uint32_t first[4] = {low.x, high.x, low.y, high.y};
        const std::uint32_t second[4] = {low.z, high.z, low.w, high.w};
#pragma unroll
        for (int eight = 0; eight < kEights; ++eight)
#pragma unroll
          for (int tile = 0; tile < kSliceTiles; ++tile) {
            const RawVector& x = step.rows[part][eight][tile];
            float(&sums)[4] = sums_[group][eight][tile];
            mma_m16n8k16<T>(sums, first, {x.x, x.y}, sums);
            mma_m16n8k16<T>(sums, second, {x.z, x.w}, sums);
          }
      }
  }

  int k_;
  int along_;      // of this lane, in a column of b
  int along_row_;  // in a row of a
  const std::uint16_t* g_rows_[kEights];
  const std::uint16_t* g_columns_[kGroups][2];
  float sums_[kGroups][kEights][kSliceTiles][4] = {};
};

// By all threads of the block, behind product.gather(): the warps' sums are added up in their order, and given. s_sums: a tile of each warp.
template <class Product, class T, int kWarps>
__device__ __forceinline__ void give_sums_of_warps(float (*s_sums)[Product::kWarpFloats], const Problem& out,
                                                   const FewWay& way, unsigned batch, std::int64_t first) {
  const auto sum_of_warps = [](const float* s_first) {
    float sum = *s_first;
#pragma unroll
    for (int w = 1; w < kWarps; ++w) sum += s_first[w * Product::kWarpFloats];
    return sum;
  };
  __syncthreads();  // every warp's sums are there
  const FewTile tile(s_sums[0], Product::kRows, Product::kColumns, way.is_turned);
  constexpr int kSums = Product::kRows * Product::kColumns;
  if (way.rounded.is_plain) {  // a few instructions, which cold caches have soon
    const std::int64_t first_row = way.is_turned ? first : 0;
    const std::int64_t first_column = way.is_turned ? 0 : first;
    T* g_out = static_cast<T*>(out.out_data) + batch * out.out.batch;
#pragma unroll 1
    for (int v = static_cast<int>(threadIdx.x); v < kSums; v += Product::kThreads) {
      const std::int64_t i = first_row + v / tile.width();
      const std::int64_t j = first_column + v % tile.width();
      if (i < out.m && j < out.n)
        g_out[i * out.out.row + j] =
            rounded<T>(way.rounded.alpha * sum_of_warps(tile.row(v / tile.width()) + v % tile.width()));
    }
    return;
  }
  // Into the first warp's place; nobody else reads there.
  for (int v = static_cast<int>(threadIdx.x); v < kSums; v += Product::kThreads) {
    float* s_sum = &tile.at(v / Product::kColumns, v % Product::kColumns);
    *s_sum = sum_of_warps(s_sum);
  }
  __syncthreads();  // they are added up
  const std::int64_t rows = way.is_turned ? out.m - first : out.m;
  tile.give<T, Product::kThreads>(out, way.rounded, batch, first, 0,
                                  static_cast<int>(smaller(std::int64_t{tile.rows()}, rows)));
}

// A call's operands, the few as rows of a.
struct DirectOperands {
  DirectOperand a;
  DirectOperand b;
  explicit DirectOperands(const Problem& few)
      : a{.g = static_cast<const std::uint16_t*>(few.a_data),
          .row = few.a.row,
          .batch = few.a.batch,
          .rows = few.m},
        b{.g = static_cast<const std::uint16_t*>(few.b_data),
          .row = few.b.column,
          .batch = few.b.batch,
          .rows = few.n} {}
};

// start.operator()<the numbers of DirectProduct, blocks on a multiprocessor>() of so many rows: of some twenty ways each (TRIED.md).
template <class Start>
Status with_direct_ways(std::int64_t rows, Start start) {
  if (rows == 1) return start.template operator()<1, 8, 1, 2, 4, 2, 6>();
  return rows <= 8 ? start.template operator()<8, 2, 2, 1, 8, 2, 2>()
                   : start.template operator()<16, 2, 2, 2, 8, 1, 2>();
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
