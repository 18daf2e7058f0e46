// What the warps of a tile make of their sums: results, by way of shared memory, by TMA or by vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "rooftile/device/hidden.h"
#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/stmatrix.h"
#include "rooftile/device/sm90a/tma.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/gemm/rungs/operand_copies.h"
#include "rooftile/ops/gemm/rungs/rounded_output.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

// Where the results of some warps stand on their way.
template <int kWarps>
struct ResultStaging {
  static constexpr int kRowBytes = 4096;               // 16 rows of 64 columns as 32 bits, or twice as 16
  static constexpr int kBesideBytes = 16 * kVecBytes;  // a chunk beside each row
  static constexpr int kBytes = kWarps * (kRowBytes + kBesideBytes);
  std::byte* s_rows;    // [kWarps][kRowBytes]
  std::byte* s_beside;  // [kWarps][kBesideBytes]
  __host__ __device__ explicit ResultStaging(SharedCarve& carve)
      : s_rows(carve.array<std::byte>(std::size_t{kWarps} * kRowBytes, 1024)),
        s_beside(carve.array<std::byte>(std::size_t{kWarps} * kBesideBytes, 128)) {}
};

// From sums to out, a warp by itself, by way of shared memory of its own. kHasMap: by TMA, where a call's way is by_engine.
template <class T, int kColumns, bool kHasMap>
class WarpResults {
 public:
  static_assert(kColumns % 8 == 0);  // the last 64 may be fewer
  // What give() takes of the bias, to be asked for before the sums are there.
  using Bias = HeldBias<T, kColumns>;

  // map: of out (make_result_map); asked only of a call whose way is by_engine.
  template <int kWarps>
  __device__ __forceinline__ WarpResults(const float (&sums)[kColumns / 2],
                                         const ResultStaging<kWarps>& staging, int warp,
                                         const TensorMap* map = nullptr)
      : sums_(sums),
        s_staging_(staging.s_rows + warp * ResultStaging<kWarps>::kRowBytes),
        s_beside_(staging.s_beside + warp * ResultStaging<kWarps>::kBesideBytes),
        map_(map),
        lane_(hidden(static_cast<int>(threadIdx.x) % 32)) {}
  // row, column: of out, those of the warp's first sum.
  __device__ __forceinline__ void give(const Problem& p, const RoundedWay& way, const Bias& bias,
                                       std::int64_t batch, std::int64_t row, std::int64_t column) const {
    // What is asked for most has code of its own, and little of it: a cold kernel waits for its instructions.
    const bool is_direct = kHasMap ? way.by_engine : way.vectors;
    if (!way.is_beside) {
      give_sums(p, way, batch, row, column);
    } else if (is_direct && way.is_plain) {
      give_direct(p, way, batch, row, column, [&](int first, float(&x)[kHeld]) {
#pragma unroll
        for (int e = 0; e < kHeld; ++e)
          x[e] = first / 2 + e < kColumns / 2 ? way.alpha * sums_[first / 2 + e] : 0;
      });
    } else if (is_direct && p.activation == GemmActivation::relu) {
      give_biased(p, way, bias, batch, row, column, [](float x) { return fast_relu(x); });
    } else if (is_direct && p.activation == GemmActivation::gelu_tanh_approx) {
      give_biased(p, way, bias, batch, row, column, [](float x) { return fast_gelu(x); });
    } else {
      give_activated(p, way, bias, batch, row, column);
    }
  }

 private:
  static constexpr int kHeld = 32;  // sums of a thread in 16 rows of 64 columns, four of each 8 columns

  // results(first, x): those of 64 columns.
  template <class ResultsOf>
  __device__ __forceinline__ void give_direct(const Problem& p, const RoundedWay& way, std::int64_t batch,
                                              std::int64_t row, std::int64_t column,
                                              ResultsOf results) const {
#pragma unroll
    for (int first = 0; first < kColumns; first += 64) {
      if (column + first >= p.n) return;
      float x[kHeld];
      results(first, x);
      give_rounded<true>(x, p, way, batch, row, column, first);
    }
  }
  // The same with a bias and an activation of a few instructions.
  template <class Activation>
  __device__ __forceinline__ void give_biased(const Problem& p, const RoundedWay& way, const Bias& bias,
                                              std::int64_t batch, std::int64_t row, std::int64_t column,
                                              Activation activation) const {
    give_direct(p, way, batch, row, column, [&](int first, float(&x)[kHeld]) {
      bias.scaled(first / 64, way.alpha, sums_, x);
#pragma unroll
      for (int e = 0; e < kHeld; ++e) x[e] = activation(x[e]);
    });
  }
  // With a bias and any activation, however the results leave, in a loop that is not unrolled.
  __device__ __forceinline__ void give_activated(const Problem& p, const RoundedWay& way, const Bias& bias,
                                                 std::int64_t batch, std::int64_t row,
                                                 std::int64_t column) const {
#pragma unroll 1
    for (int first = 0; first < kColumns; first += 64) {
      if (column + first >= p.n) return;
      float x[kHeld];
      // Registers have no index that is known only here.
#pragma unroll
      for (int each = 0; each < kColumns; each += 64)
        if (each == first) bias.scaled(each / 64, way.alpha, sums_, x);
      activate_rounded(p.activation, x);
      give_rounded<false>(x, p, way, batch, row, column, first);
    }
  }
  // 64 columns as pairs of 16 bits: by TMA, by vectors, or by the aligned chunks that cover a row. kDirect: not by the last, and where there is
  // a map by TMA alone, but for the tile's last columns where they are fewer.
  template <bool kDirect>
  __device__ __forceinline__ void give_rounded(const float (&x)[kHeld], const Problem& p,
                                               const RoundedWay& way, std::int64_t batch, std::int64_t row,
                                               std::int64_t column, int first) const {
    // Behind the last whole 64 columns of a tile fewer are there; a loop that is not unrolled takes all of them.
    const int columns = kDirect && first + 64 > kColumns ? kColumns - first : 64;
    const int line = columns / kVecElements<T>;  // vectors of a row
    const bool has_map = kHasMap && (kDirect || way.by_engine);
    const bool by_engine = has_map && first + 64 <= kColumns;  // a box has all 64
    T* s_rows = reinterpret_cast<T*>(s_staging_);
    T* g_out = static_cast<T*>(p.out_data) + batch * p.out.batch;
    if (has_map) {
      // Two halves in turn. A tile begins with the first: what was given of the tile before has long left.
      s_rows += first % 128 * 16;
      if (lane_ == 0) {
        if (first == 0)
          bulk_wait_read<0>();
        else
          bulk_wait_read<1>();
      }
    }
    __syncwarp();  // the columns before have been read
#pragma unroll
    for (int j = 0; j < 64; j += 16) {
      if (j >= columns) break;
      std::uint32_t pairs[4];
#pragma unroll
      for (int q = 0; q < 4; ++q) pairs[q] = pair(x[j / 2 + 2 * q], x[j / 2 + 2 * q + 1]);
      stmatrix(s_rows + staged(lane_ % 16, j / 8 + lane_ / 16), pairs);
    }
    if (by_engine) fence_proxy_async<FenceSpace::shared_block>();
    __syncwarp();  // these are there
    if (by_engine) {
      if (lane_ == 0 && row < p.m) {
        tma_store(*map_, {static_cast<int>(column) + first, static_cast<int>(row), static_cast<int>(batch)},
                  s_rows);
        bulk_commit();
      }
    } else if (kDirect || way.vectors) {
#pragma unroll
      for (int before = 0; before < 16 * line; before += 32) {
        const int v = before + lane_;
        if (v >= 16 * line) break;
        const std::int64_t i = row + v / line;
        const std::int64_t j = column + first + v % line * kVecElements<T>;
        if (i < p.m && j < p.n && j < column + kColumns)
          store_vec<StorePolicy::no_allocate>(g_out + i * p.out.row + j,
                                              load_vec(s_rows + staged(v / line, v % line)));
      }
    } else {
      give_shifted(p, g_out, row, column, first);
    }
  }
  // What is staged, to rows that begin anywhere: by the aligned chunks of 16 bytes that cover them. What a chunk takes from behind these 64
  // columns is left to the next ones, what from in front of them stands beside the rows.
  __device__ __forceinline__ void give_shifted(const Problem& p, T* g_out, std::int64_t row,
                                               std::int64_t column, int first) const {
    constexpr int kLine = 64 / kChunkElements;
    const auto* s_rows = reinterpret_cast<const std::uint16_t*>(s_staging_);
    auto* s_before = reinterpret_cast<std::uint16_t*>(s_beside_);
    const std::int64_t left = smaller(p.n - column, kColumns) - first;
    const int end = left < 64 ? static_cast<int>(left) : 64;
    const bool goes_on = first + 64 < kColumns && left > 64;
    const int begin = first > 0 ? -kChunkElements : 0;
#pragma unroll 1
    for (int v = lane_; v < 16 * (kLine + 1); v += 32) {
      const int r = v / (kLine + 1);
      const int c = v % (kLine + 1);
      if (row + r >= p.m) break;
      T* g_segment = g_out + (row + r) * p.out.row + column + first;
      const int skew =
          static_cast<int>(reinterpret_cast<std::uintptr_t>(g_segment) / sizeof(T) % kChunkElements);
      if (c == kLine && (skew == 0 || goes_on)) continue;
      const CopiedChunk own = c < kLine ? load_vec(s_rows + staged(r, c)) : CopiedChunk{};
      CopiedChunk other{};
      if (c > 0)
        other = load_vec(s_rows + staged(r, c - 1));
      else if (first > 0)
        other = load_vec(s_before + r * kChunkElements);
      const CopiedChunk chunk = skew > 0 ? shifted(other, own, kChunkElements - skew) : own;
      const int at = c * kChunkElements - skew;
      auto* g_chunk = reinterpret_cast<std::uint16_t*>(g_segment) + at;
      if (at >= begin && at + kChunkElements <= end) {
        store_vec<StorePolicy::no_allocate>(g_chunk, chunk);
      } else {
#pragma unroll
        for (int e = 0; e < kChunkElements; ++e)
          if (at + e >= begin && at + e < end) g_chunk[e] = chunk[e];
      }
    }
    if (!goes_on) return;
    __syncwarp();  // what stood beside the rows has been read
    if (lane_ < 16) store_vec(s_before + lane_ * kChunkElements, load_vec(s_rows + staged(lane_, kLine - 1)));
  }
  // With all that may come in: 64 columns of sums at a time, and a loop that is not unrolled.
  __device__ __forceinline__ void give_sums(const Problem& p, const RoundedWay& way, std::int64_t batch,
                                            std::int64_t row, std::int64_t column) const {
    const RoundedOutput<T> output(p, way, batch);
    auto* s_sums = reinterpret_cast<float*>(s_staging_);
    // Groups of 8 columns change places: what lanes store at once is in banks of its own.
    const auto at = [](int r, int c) { return r * 64 + (c ^ r % 8 * 8); };
    const auto by = [&](auto elements, std::int64_t first, auto give) {
      constexpr int kEach = decltype(elements)::value;
#pragma unroll 1
      for (int v = lane_; v < 16 * 64 / kEach; v += 32) {
        const int r = v / (64 / kEach);
        const int c = v % (64 / kEach) * kEach;
        if (first - column + c >= kColumns) continue;
        give(s_sums + at(r, c), row + r, first + c);
      }
    };
#pragma unroll 1
    for (int first = 0; first < kColumns; first += 64) {
      if (column + first >= p.n) return;
      __syncwarp();                    // the columns before have been read
      const int lane = hidden(lane_);  // addresses wait in no registers

      // Registers have no index that is known only here.
#pragma unroll
      for (int each = 0; each < kColumns; each += 64) {
        if (each != first) continue;
#pragma unroll
        for (int j = 0; j < 64 && each + j < kColumns; j += 8) {
          const float* of = sums_ + (each + j) / 2;
#pragma unroll
          for (int half = 0; half < 2; ++half)
            store_vec(s_sums + at(lane / 4 + 8 * half, j + lane % 4 * 2),
                      Vec<float, 2>{{of[2 * half], of[2 * half + 1]}});
        }
      }
      __syncwarp();  // these are there
      if (!way.vectors) {
        by(std::integral_constant<int, 1>(), column + first,
           [&](const float* s_sum, std::int64_t i, std::int64_t j) { output.give(*s_sum, i, j); });
      } else if (way.is_wide) {
        by(std::integral_constant<int, kVecElements<float>>(), column + first,
           [&](const float* s_from, std::int64_t i, std::int64_t j) {
             output.template give_vector<float>(s_from, i, j);
           });
      } else {
        by(std::integral_constant<int, kVecElements<T>>(), column + first,
           [&](const float* s_from, std::int64_t i, std::int64_t j) {
             output.template give_vector<T>(s_from, i, j);
           });
      }
    }
  }
  static constexpr int kChunkElements = kVecElements<T>;  // of 16 bytes
  // Where a chunk of a row is, in elements: of 8 rows in banks of its own.
  __device__ __forceinline__ static int staged(int r, int chunk) {
    return (r * 8 + (chunk ^ r % 8)) * kChunkElements;
  }
  __device__ __forceinline__ static std::uint32_t pair(float low, float high) {
    const Vec<T, 2> both = {{rounded<T>(low), rounded<T>(high)}};
    std::uint32_t bits;
    memcpy(&bits, static_cast<const void*>(&both), sizeof(bits));
    return bits;
  }

  const float (&sums_)[kColumns / 2];
  std::byte* s_staging_;
  std::byte* s_beside_;
  const TensorMap* map_;
  int lane_;
};

// Until shared memory may go: by every warp that gave results by way of a map.
__device__ __forceinline__ void wait_for_results() {
  if (threadIdx.x % 32 == 0) bulk_wait_read<0>();
}

// The map of out, of boxes of 16 rows by 64 columns as a warp stages them. Of a call whose way is by_engine.
inline Status make_result_map(TensorMap& map, DType dtype, const Problem& p) {
  TensorMapSpec spec{.data = p.out_data, .dtype = dtype, .rank = 3, .swizzle = TileSwizzle::bytes128};
  // A row that is alone has any stride.
  const std::int64_t pitch = p.m == 1 ? (p.n + 63) / 64 * 64 : p.out.row;
  spec.extents = {p.n, p.m, p.batches};
  spec.strides = {1, pitch, p.batches == 1 ? pitch * p.m : p.out.batch};
  spec.box = {64, 16, 1};
  return make_tensor_map(map, spec);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
