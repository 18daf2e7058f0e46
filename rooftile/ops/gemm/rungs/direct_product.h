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

// kSlices: 1, up to 8 rows of a by 16 columns of b at once. 8: one row of a; an mma's 8 rows are as many slices of one column of b, its 8 columns
// the same slices of the row of a, and only what meets its own slice counts: a warp's load is 512 bytes of one column in place of 64 of eight.
// kGroups of them to a warp, each kParts times in a step. kWarps part a block's steps; a warp has kAhead steps on their way.
template <class T, int kSlices, int kGroups, int kParts, int kWarps, int kAhead>
struct DirectProduct {
  static_assert(kSlices == 1 || kSlices == 8, "8 rows of a, or 8 slices of one");
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kRows = 8 / kSlices;  // of a
  static constexpr int kColumns = 16 / kSlices * kGroups;
  static constexpr int kElements = kVecBytes / 2;
  static constexpr int kPart = 4 * kElements * kSlices;  // along k
  static constexpr int kDepth = kPart * kParts;
  static constexpr int kWarpFloats = FewTile::floats(kRows, kColumns);

  // What a lane has of a step.
  struct Step {
    RawVector columns[kParts][kGroups][2];
    RawVector row[kParts];
  };

  // Of the block's columns from `first` on. Behind the last row and column the last ones again: their sums go nowhere.
  __device__ __forceinline__ DirectProduct(const DirectOperand& a, const DirectOperand& b, int k,
                                           unsigned batch, std::int64_t first)
      : k_(k), along_(warp_index() * kDepth + (kSlices == 1 ? lane_index() % 4 : lane_index()) * kElements) {
    const int own = kSlices == 1 ? lane_index() / 4 : 0;
    g_row_ = a.g + batch * a.batch + smaller(std::int64_t{own}, a.rows - 1) * a.row + along_;
#pragma unroll
    for (int group = 0; group < kGroups; ++group)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        g_columns_[group][half] =
            b.g + batch * b.batch +
            smaller(first + (2 * group + half) * (kColumns / kGroups / 2) + own, b.rows - 1) * b.row + along_;
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
      Step step = {};
      ask<true>(step, steps);
      add(step);
    }
  }

  // Into shared memory; by a tile of each warp's own.
  __device__ __forceinline__ void gather(const FewTile& tile) const {
    const int lane = lane_index();
#pragma unroll
    for (int group = 0; group < kGroups; ++group) {
      if constexpr (kSlices == 1) {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          tile.at(lane % 4 * 2 + i % 2, 16 * group + i / 2 * 8 + lane / 4) = sums_[group][i];
      } else {
        // Sum (g, g) of each slice g is with lane g / 2 of its four.
        const bool is_own = lane % 4 == lane / 8;
        const bool is_odd = lane / 4 % 2 == 1;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float own = is_odd ? sums_[group][2 * half + 1] : sums_[group][2 * half];
          const float sum = warp_reduce(is_own ? own : 0.0f, [](float x, float y) { return x + y; });
          if (lane == 0) tile.at(0, 2 * group + half) = sum;
        }
      }
    }
  }

 private:
  // kIsCut: k ends within the step.
  template <bool kIsCut>
  __device__ __forceinline__ void ask(Step& step, int index) const {
    const int at = index * (kWarps * kDepth);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      if (kIsCut && along_ + at + kPart * part >= k_) continue;
#pragma unroll
      for (int group = 0; group < kGroups; ++group)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          step.columns[part][group][half] =
              load_bytes<kVecBytes, LoadPolicy::no_allocate>(g_columns_[group][half] + at + kPart * part);
      step.row[part] = load_bytes<kVecBytes>(g_row_ + at + kPart * part);
    }
    if (kIsCut) __syncwarp();
  }
  __device__ __forceinline__ void add(const Step& step) {
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      const RawVector& x = step.row[part];
#pragma unroll
      for (int group = 0; group < kGroups; ++group) {
        const RawVector& low = step.columns[part][group][0];
        const RawVector& high = step.columns[part][group][1];
        const std::uint32_t first[4] = {low.x, high.x, low.y, high.y};
        const std::uint32_t second[4] = {low.z, high.z, low.w, high.w};
        mma_m16n8k16<T>(sums_[group], first, {x.x, x.y}, sums_[group]);
        mma_m16n8k16<T>(sums_[group], second, {x.z, x.w}, sums_[group]);
      }
    }
  }

  int k_;
  int along_;
  const std::uint16_t* g_row_;
  const std::uint16_t* g_columns_[kGroups][2];
  float sums_[kGroups][4] = {};
};

template <class T, int kSlices, int kGroups, int kParts, int kWarps, int kAhead, int kBlocks>
__global__ void __launch_bounds__(32 * kWarps, kBlocks)
    direct_kernel(const __grid_constant__ DirectOperand a, const __grid_constant__ DirectOperand b, int k,
                  unsigned tile_columns, const __grid_constant__ Problem out, FewWay way) {
  using Product = DirectProduct<T, kSlices, kGroups, kParts, kWarps, kAhead>;
  __shared__ __align__(16) float s_sums[kWarps][Product::kWarpFloats];
  const unsigned batch = blockIdx.x / tile_columns;
  const std::int64_t first = std::int64_t{blockIdx.x % tile_columns} * Product::kColumns;
  Product product(a, b, k, batch, first);
  product.add_all();
  product.gather(FewTile(s_sums[warp_index()], Product::kRows, Product::kColumns, way.is_turned));
  __syncthreads();  // every warp's sums are there
  const FewTile tile(s_sums[0], Product::kRows, Product::kColumns, way.is_turned);
  // Into the first warp's place, in the order of the warps; nobody else reads there.
  for (int v = static_cast<int>(threadIdx.x); v < Product::kRows * Product::kColumns;
       v += Product::kThreads) {
    float* s_sum = &tile.at(v / Product::kColumns, v % Product::kColumns);
    float sum = *s_sum;
#pragma unroll
    for (int w = 1; w < kWarps; ++w) sum += s_sum[w * Product::kWarpFloats];
    *s_sum = sum;
  }
  __syncthreads();  // they are added up
  const std::int64_t rows = way.is_turned ? out.m - first : out.m;
  tile.give<T, Product::kThreads>(out, way.rounded, batch, first, 0,
                                  static_cast<int>(smaller(std::int64_t{tile.rows()}, rows)));
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
