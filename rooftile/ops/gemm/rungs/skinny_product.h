// Products of a few rows: every element of b is read once, and multiplied with all rows of a.
#pragma once

#include <cstdint>

#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/gemm_device.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::SkinnyCut;

inline constexpr int kSkinnyThreads = 256;
inline constexpr int kSkinnyWarps = kSkinnyThreads / kWarpSize;
inline constexpr int kSkinnyDepth = 128;  // lines of a in shared memory at a time

// A block's part: 4 columns of each lane or warp, and a range of lines along k.
struct SkinnyPlace {
  std::int64_t batch;
  std::int64_t strip;
  std::int64_t part;
  std::int64_t first_line;
  std::int64_t end_line;
  __device__ __forceinline__ SkinnyPlace(const Problem& p, const SkinnyCut& cut)
      : batch(blockIdx.x / (cut.strips * cut.parts)),
        strip(blockIdx.x / cut.parts % cut.strips),
        part(blockIdx.x % cut.parts),
        first_line(part * cut.lines),
        end_line(smaller(first_line + cut.lines, p.k)) {}
};

// What a block knows of a: all rows of the next lines, zeros where there is none. kByLines: [line][row], else [row][line].
template <int kRows, bool kByLines>
struct SkinnyRows {
  static constexpr int kPitch =
      kByLines ? kRows + 4 : kSkinnyDepth;  // lines of vectors, in banks of their own
  __align__(16) float at[kByLines ? kSkinnyDepth : kRows][kPitch];

  // Neighbours stand along what lies side by side.
  __device__ __forceinline__ void load(const Problem& p, std::int64_t batch, std::int64_t line,
                                       std::int64_t end_line) {
    const float* g_a = static_cast<const float*>(p.a_data) + batch * p.a.batch;
    const bool along_k = !kByLines || p.a.column == 1;
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < kRows * kSkinnyDepth; i += kSkinnyThreads) {
      const int row = along_k ? i / kSkinnyDepth : i % kRows;
      const int d = along_k ? i % kSkinnyDepth : i / kRows;
      const bool is_there = row < p.m && line + d < end_line;
      const float x = is_there ? g_a[row * p.a.row + (line + d) * p.a.column] : 0.0f;
      at[kByLines ? d : row][kByLines ? row : d] = x;
    }
  }
};

// Sums of a part go to g_parts, [part][batch][row][column]; where there is one part alone they are results.
template <class T>
class SkinnyResults {
 public:
  __device__ __forceinline__ SkinnyResults(const Problem& p, const SkinnyCut& cut, const SkinnyPlace& place,
                                           T* g_parts)
      : p_(p),
        output_(p, place.batch),
        g_part_(cut.parts == 1 ? nullptr : g_parts + (place.part * p.batches + place.batch) * p.m * p.n) {}
  __device__ __forceinline__ void give(T sum, std::int64_t row, std::int64_t column) const {
    if (row >= p_.m || column >= p_.n) return;
    if (g_part_ == nullptr)
      output_.give(sum, row, column);
    else
      g_part_[row * p_.n + column] = sum;
  }

 private:
  const Problem& p_;
  Output<T> output_;
  T* g_part_;
};

// Four elements of b side by side, or 32 apart, from `first` on along an axis of `extent` elements: zeros behind it.
template <bool kVectors>
__device__ __forceinline__ Vec<float, 4> skinny_vector(const float* g_b, std::int64_t first,
                                                       std::int64_t stride, std::int64_t extent) {
  Vec<float, 4> vec{};
  if constexpr (kVectors) {
    if (first < extent) vec = load_vec<LoadPolicy::no_allocate>(g_b + first);
  } else {
#pragma unroll
    for (int e = 0; e < 4; ++e)
      if (first + 32 * e < extent) vec[e] = load<LoadPolicy::no_allocate>(g_b + (first + 32 * e) * stride);
  }
  return vec;
}
template <bool kVectors>
__device__ __forceinline__ int skinny_offset(int lane, int e) {
  return kVectors ? lane * 4 + e : lane + 32 * e;
}

// Columns of b side by side: a warp has 128 of them and every eighth line; the warps' sums meet in shared memory.
template <int kRows, bool kVectors>
__global__ void __launch_bounds__(kSkinnyThreads)
    skinny_lines_kernel(const __grid_constant__ Problem p, const __grid_constant__ SkinnyCut cut,
                        float* g_parts) {
  constexpr int kAtOnce = 4;
  __shared__ SkinnyRows<kRows, true> s_rows;
  __shared__ __align__(16) float s_sums[kSkinnyWarps][128];
  const SkinnyPlace place(p, cut);
  const int lane = lane_index();
  const int warp = warp_index();
  const float* g_b = static_cast<const float*>(p.b_data) + place.batch * p.b.batch;
  const std::int64_t column = place.strip * 128 + skinny_offset<kVectors>(lane, 0);
  float sums[kRows][4] = {};
#pragma unroll 1
  for (std::int64_t line = place.first_line; line < place.end_line; line += kSkinnyDepth) {
    s_rows.load(p, place.batch, line, place.end_line);
    __syncthreads();  // the rows are there
#pragma unroll 1
    for (int d = warp; d < kSkinnyDepth; d += kSkinnyWarps * kAtOnce) {
      Vec<float, 4> b[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        const std::int64_t at = line + d + i * kSkinnyWarps;
        b[i] = skinny_vector<kVectors>(g_b + at * p.b.row, column, p.b.column, at < place.end_line ? p.n : 0);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
#pragma unroll
        for (int row = 0; row < kRows; row += 4) {
          const Vec<float, 4> a = load_vec(&s_rows.at[d + i * kSkinnyWarps][row]);
#pragma unroll
          for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) sums[row + r][e] = multiply_add(a[r], b[i][e], sums[row + r][e]);
        }
    }
    __syncthreads();  // they have been read
  }
  const SkinnyResults<float> results(p, cut, place, g_parts);
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
#pragma unroll
    for (int e = 0; e < 4; ++e) s_sums[warp][lane + 32 * e] = sums[row][e];
    __syncthreads();  // the sums are there
    if (threadIdx.x < 128) {
      float sum = 0;
#pragma unroll
      for (const auto& of_warp : s_sums) sum += of_warp[threadIdx.x];
      results.give(sum, row, place.strip * 128 + skinny_offset<kVectors>(lane, warp));
    }
    __syncthreads();  // they have been read
  }
}

// Lines of b side by side: a warp has four columns, and its lanes part the lines.
template <int kRows, bool kVectors>
__global__ void __launch_bounds__(kSkinnyThreads)
    skinny_columns_kernel(const __grid_constant__ Problem p, const __grid_constant__ SkinnyCut cut,
                          float* g_parts) {
  constexpr int kColumns = 4;
  __shared__ SkinnyRows<kRows, false> s_rows;
  const SkinnyPlace place(p, cut);
  const int lane = lane_index();
  const std::int64_t column = (place.strip * kSkinnyWarps + warp_index()) * kColumns;
  const float* g_b = static_cast<const float*>(p.b_data) + place.batch * p.b.batch;
  float sums[kRows][kColumns] = {};
#pragma unroll 1
  for (std::int64_t line = place.first_line; line < place.end_line; line += kSkinnyDepth) {
    Vec<float, 4> b[kColumns];
#pragma unroll
    for (int j = 0; j < kColumns; ++j)
      b[j] = skinny_vector<kVectors>(g_b + (column + j) * p.b.column, line + skinny_offset<kVectors>(lane, 0),
                                     p.b.row, column + j < p.n ? place.end_line : 0);
    s_rows.load(p, place.batch, line, place.end_line);
    __syncthreads();  // the rows are there
#pragma unroll
    for (int row = 0; row < kRows; ++row) {
      Vec<float, 4> a;
      if constexpr (kVectors) {
        a = load_vec(&s_rows.at[row][lane * 4]);
      } else {
#pragma unroll
        for (int e = 0; e < 4; ++e) a[e] = s_rows.at[row][lane + 32 * e];
      }
#pragma unroll
      for (int j = 0; j < kColumns; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) sums[row][j] = multiply_add(a[e], b[j][e], sums[row][j]);
    }
    __syncthreads();  // they have been read
  }
  const SkinnyResults<float> results(p, cut, place, g_parts);
#pragma unroll
  for (int row = 0; row < kRows; ++row) {
#pragma unroll
    for (int j = 0; j < kColumns; ++j) {
      const float sum = warp_reduce(sums[row][j], [](float x, float y) { return x + y; });
      if (lane == 0) results.give(sum, row, column + j);
    }
  }
}

// Adds up the parts of each element, always in the same order.
__global__ void __launch_bounds__(kSkinnyThreads)
    skinny_combine_kernel(const __grid_constant__ Problem p, const __grid_constant__ SkinnyCut cut,
                          const float* g_parts) {
  const std::int64_t elements = p.batches * p.m * p.n;
  const std::int64_t i = std::int64_t{blockIdx.x} * kSkinnyThreads + threadIdx.x;
  if (i >= elements) return;
  float sum = 0;
#pragma unroll 8
  for (std::int64_t part = 0; part < cut.parts; ++part) sum += g_parts[part * elements + i];
  const std::int64_t of_matrix = i % (p.m * p.n);
  Output<float>(p, i / (p.m * p.n)).give(sum, of_matrix / p.n, of_matrix % p.n);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
