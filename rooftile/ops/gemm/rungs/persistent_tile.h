// Small tiles of one block, one after the other, and stages of shared memory that run on from each into the next. Both operands are
// there as they lie in memory, rows of a and lines of b: a thread multiplies four lines at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/device/shared_carve.h"
#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/gemm/rungs/gemm_device.h"
#include "rooftile/ops/gemm/rungs/tile_results.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::PersistentCut;

// kSide x kSide elements of out by as many threads: 8 of them down the rows, each with every eighth row and two vectors of it.
template <int kSide>
struct PersistentTile {
  static constexpr int kThreads = kSide;
  static constexpr int kBlocks = gemm_plan::persistent_blocks(kSide);
  static constexpr int kVector = 4;
  static constexpr int kThreadRows = kSide / 8;
  static constexpr int kRowVectors = 2;
  static constexpr int kColumnThreads = kThreads / 8;
  static constexpr int kDepth = gemm_plan::kPersistentDepth;
  static constexpr int kPitch =
      kDepth + kVector;  // of rows of a, an odd number of vectors: 8 rows are in banks of their own
  static constexpr int kElementsOfA = kSide * kPitch;
  static constexpr int kStageElements = kElementsOfA + kDepth * kSide;
  static constexpr int kStages = kSide == 64 ? 5 : 3;
  static constexpr int kHalf = kSide / kRowVectors;  // columns of which every thread has a vector
  static constexpr std::size_t kSharedBytes = sizeof(float) * (kStages * kStageElements + kSide * kHalf);

  __device__ __forceinline__ static int row(int i) { return static_cast<int>(threadIdx.x) % 8 + 8 * i; }
  __device__ __forceinline__ static int column(int v) {
    return (static_cast<int>(threadIdx.x) / 8 + kColumnThreads * v) * kVector;
  }
};

// A thread's copies of one operand for a step: kCopies times kWidth elements. Of the first, where it is along k (line) and across
// (outer: rows of a, columns of b), in memory and in shared memory; and from each to the next.
template <int kSide, int kWidth>
struct StepCopies {
  static constexpr int kCopies = gemm_plan::kPersistentDepth / kWidth;
  static constexpr int kBytes = kWidth * static_cast<int>(sizeof(float));
  int line;
  int outer;
  int line_step;
  int outer_step;
  int s_first;
  int s_step;
  std::int64_t g_first;
  std::int64_t g_step;

  // Lanes stand along k, kLinesAtOnce of them, or across: along what lies side by side.
  __device__ __forceinline__ StepCopies(bool along_k, std::int64_t line_stride, std::int64_t outer_stride,
                                        int s_line, int s_outer) {
    constexpr int kLinesAtOnce = gemm_plan::kPersistentDepth / kWidth;
    const auto thread = static_cast<int>(threadIdx.x);
    if (along_k) {  // a vector is kWidth lines of one row
      line = thread % kLinesAtOnce * kWidth;
      outer = thread / kLinesAtOnce;
      line_step = 0;
      outer_step = kSide / kLinesAtOnce;
    } else {  // kWidth columns of one line
      constexpr int kOuterAtOnce = kSide / kWidth;
      line = thread / kOuterAtOnce;
      outer = thread % kOuterAtOnce * kWidth;
      line_step = kWidth;
      outer_step = 0;
    }
    s_first = line * s_line + outer * s_outer;
    s_step = line_step * s_line + outer_step * s_outer;
    g_first = line * line_stride + outer * outer_stride;
    g_step = line_step * line_stride + outer_step * outer_stride;
  }
  // Of what begins at g: zeros beyond `lines` and `outers`.
  __device__ __forceinline__ void copy(const float* g, float* s_stage, int lines, int outers) const {
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const bool is_there = line + i * line_step < lines && outer + i * outer_step < outers;
      cp_async_or_zero<kBytes>(s_stage + s_first + i * s_step, is_there ? g + g_first + i * g_step : g,
                               is_there ? kBytes : 0);
    }
  }
};

// Asks for the steps of a block's tiles, one after the other.
template <int kSide, bool kVectors>
class StepFeeder {
 public:
  using Tile = PersistentTile<kSide>;
  using Copies = StepCopies<kSide, kVectors ? Tile::kVector : 1>;

  __device__ __forceinline__ StepFeeder(const Problem& p, const PersistentCut& cut)
      : p_(p),
        cut_(cut),
        a_(kVectors || p.a.column == 1, p.a.column, p.a.row, 1, Tile::kPitch),
        b_(!kVectors && p.b.column != 1, p.b.row, p.b.column, kSide, 1),
        tile_(blockIdx.x) {
    if (tile_ < static_cast<unsigned>(cut_.tiles)) place();
  }
  __device__ __forceinline__ void feed(float* s_stage) {
    if (tile_ < static_cast<unsigned>(cut_.tiles)) {
      a_.copy(g_a_, s_stage, lines_, rows_);
      b_.copy(g_b_, s_stage + Tile::kElementsOfA, lines_, columns_);
      g_a_ += Tile::kDepth * p_.a.column;
      g_b_ += Tile::kDepth * p_.b.row;
      lines_ -= Tile::kDepth;
      if (lines_ <= 0) {
        tile_ += gridDim.x;
        if (tile_ < static_cast<unsigned>(cut_.tiles)) place();
      }
    }
    cp_async_commit();
  }

 private:
  __device__ __forceinline__ void place() {
    const TilePlace<kSide, kSide> place(cut_.tile_rows, cut_.tile_columns, tile_);
    g_a_ = static_cast<const float*>(p_.a_data) + place.batch * p_.a.batch + place.row * p_.a.row;
    g_b_ = static_cast<const float*>(p_.b_data) + place.batch * p_.b.batch + place.column * p_.b.column;
    rows_ = static_cast<int>(smaller(p_.m - place.row, kSide));
    columns_ = static_cast<int>(smaller(p_.n - place.column, kSide));
    lines_ = static_cast<int>(p_.k);
  }

  const Problem& p_;
  const PersistentCut& cut_;
  Copies a_;
  Copies b_;
  unsigned tile_;
  const float* g_a_ = nullptr;
  const float* g_b_ = nullptr;
  int lines_ = 0;
  int rows_ = 0;
  int columns_ = 0;
};

template <int kSide>
struct PersistentSums {
  using Tile = PersistentTile<kSide>;
  using Vector = Vec<float, Tile::kVector>;
  float at[Tile::kThreadRows][Tile::kRowVectors * Tile::kVector];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (auto& row : at)
#pragma unroll
      for (float& sum : row) sum = 0;
  }
  __device__ __forceinline__ void add(const float* s_stage) {
    const float* s_b = s_stage + Tile::kElementsOfA;
#pragma unroll
    for (int line = 0; line < Tile::kDepth; line += Tile::kVector) {
      Vector a[Tile::kThreadRows];
#pragma unroll
      for (int i = 0; i < Tile::kThreadRows; ++i)
        a[i] = load_vec(s_stage + Tile::row(i) * Tile::kPitch + line);
#pragma unroll
      for (int d = 0; d < Tile::kVector; ++d) {
        Vector b[Tile::kRowVectors];
#pragma unroll
        for (int v = 0; v < Tile::kRowVectors; ++v)
          b[v] = load_vec(s_b + (line + d) * kSide + Tile::column(v));
          // Along one row and back along the next: the registers' banks (README).
#pragma unroll
        for (int i = 0; i < Tile::kThreadRows; ++i)
#pragma unroll
          for (int step = 0; step < Tile::kRowVectors * Tile::kVector; ++step) {
            const int j = i % 2 == 0 ? step : Tile::kRowVectors * Tile::kVector - 1 - step;
            at[i][j] = multiply_add(a[i][d], b[j / Tile::kVector][j % Tile::kVector], at[i][j]);
          }
      }
    }
  }
  __device__ __forceinline__ Vector vector(int i, int v) const {
    Vector vec;
#pragma unroll
    for (int e = 0; e < Tile::kVector; ++e) vec[e] = at[i][v * Tile::kVector + e];
    return vec;
  }
  // s_half: room for half of the tile.
  template <class Place>
  __device__ __forceinline__ void give(const Problem& p, const Place& place, const OutputWay& way,
                                       float* s_half) const {
    float* g_tile =
        static_cast<float*>(p.out_data) + place.batch * p.out.batch + place.row * p.out.row + place.column;
    if (way.plain) {
      const auto alpha = static_cast<float>(p.alpha);
#pragma unroll
      for (int i = 0; i < Tile::kThreadRows; ++i)
#pragma unroll
        for (int v = 0; v < Tile::kRowVectors; ++v) {
          Vector vec = vector(i, v);
#pragma unroll
          for (int e = 0; e < Tile::kVector; ++e) vec[e] *= alpha;
          if (place.row + Tile::row(i) < p.m && place.column + Tile::column(v) < p.n)
            store_vec<StorePolicy::no_allocate>(g_tile + Tile::row(i) * p.out.row + Tile::column(v), vec);
        }
      return;
    }
#pragma unroll
    for (int v = 0; v < Tile::kRowVectors; ++v) {
      if (v > 0) __syncthreads();  // the half before has been read
#pragma unroll
      for (int i = 0; i < Tile::kThreadRows; ++i)
        store_vec(s_half + of_half(Tile::row(i), Tile::column(0)), vector(i, v));
      __syncthreads();  // the half is there
      const std::int64_t first = place.column + v * Tile::kHalf;
      if (way.scaled) {
        const auto alpha = static_cast<float>(p.alpha);
        const auto rows = static_cast<int>(smaller(p.m - place.row, kSide));
        give_half<8>(s_half, [&](float sum, int row, int column) {
          if (row < rows && first + column < p.n)
            g_tile[row * p.out.row + v * Tile::kHalf + column] = alpha * sum;
        });
      } else if (!way.vectors || p.n % Tile::kVector != 0) {
        const Output<float> output(p, place.batch);
        give_half<1>(s_half, [&](float sum, int row, int column) {
          output.give(sum, place.row + row, first + column);
        });
      } else if (p.activation == GemmActivation::none) {
        give_vectors<4, false>(p, place, first, s_half);
      } else {
        give_vectors<1, true>(p, place, first, s_half);
      }
    }
  }

 private:
  // Where an element of half a tile is: what 8 lanes store at once, vectors of as many rows, is in banks of its own.
  __device__ __forceinline__ static int of_half(int row, int column) {
    constexpr int kLine = Tile::kHalf / Tile::kVector;
    return (row * kLine + (column / Tile::kVector ^ (row * kLine / 8 % kLine))) * Tile::kVector +
           column % Tile::kVector;
  }
  // give(sum, row, column) of single elements: a warp's side by side, a thread's below each other, some read at once.
  template <int kAtOnce, class Give>
  __device__ __forceinline__ static void give_half(const float* s_half, Give give) {
    constexpr int kStep = Tile::kThreads / Tile::kHalf;
    const int column = static_cast<int>(threadIdx.x) % Tile::kHalf;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x) / Tile::kHalf; first < kSide; first += kAtOnce * kStep) {
      float sums[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) sums[i] = s_half[of_half(first + i * kStep, column)];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) give(sums[i], first + i * kStep, column);
    }
  }
  // Results of half a tile from column `first` of out on, where vectors are whole: a warp's side by side. What kAtOnce of them are added to
  // comes at once.
  template <int kAtOnce, bool kActivates, class Place>
  __device__ __forceinline__ static void give_vectors(const Problem& p, const Place& place,
                                                      std::int64_t first, const float* s_half) {
    constexpr int kLine = Tile::kHalf / Tile::kVector;
    constexpr int kVectors = kSide * kLine;
    static_assert(kVectors % (kAtOnce * Tile::kThreads) == 0);
    const Output<float, kActivates> output(p, place.batch);
    float* g_out = static_cast<float*>(p.out_data) + place.batch * p.out.batch;
#pragma unroll 1
    for (int begin = static_cast<int>(threadIdx.x); begin < kVectors; begin += kAtOnce * Tile::kThreads) {
      const auto row = [&](int i) { return (begin + i * Tile::kThreads) / kLine; };
      const int column = begin % kLine * Tile::kVector;
      const auto is_inside = [&](int i) { return place.row + row(i) < p.m && first + column < p.n; };
      Vector results[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        results[i] = load_vec(s_half + of_half(row(i), column));
        if (!is_inside(i)) continue;
#pragma unroll
        for (int e = 0; e < Tile::kVector; ++e)
          results[i][e] = output.result(results[i][e], place.row + row(i), first + column + e);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        if (is_inside(i))
          store_vec<StorePolicy::no_allocate>(g_out + (place.row + row(i)) * p.out.row + first + column,
                                              results[i]);
    }
  }
};

template <int kSide, bool kVectors>
__global__ void __launch_bounds__(PersistentTile<kSide>::kThreads, PersistentTile<kSide>::kBlocks)
    persistent_kernel(const __grid_constant__ Problem p, const __grid_constant__ PersistentCut cut,
                      OutputWay way) {
  using Tile = PersistentTile<kSide>;
  constexpr int kRing = Tile::kStages * Tile::kStageElements;
  ROOFTILE_DYN_SHARED(uint4, s_bytes);
  auto* s_stages = reinterpret_cast<float*>(s_bytes);
  StepFeeder<kSide, kVectors> feeder(p, cut);
#pragma unroll 1
  for (int s = 0; s < Tile::kStages - 1; ++s) feeder.feed(s_stages + s * Tile::kStageElements);
  int read = 0;
  int write = kRing - Tile::kStageElements;
#pragma unroll 1
  for (unsigned tile = blockIdx.x; tile < static_cast<unsigned>(cut.tiles); tile += gridDim.x) {
    PersistentSums<kSide> sums;
    sums.clear();
#pragma unroll 1
    for (int step = 0; step < cut.steps; ++step) {
      cp_async_wait<Tile::kStages - 2>();
      __syncthreads();  // the step is there, and the one before has been read
      feeder.feed(s_stages + write);
      sums.add(s_stages + read);
      write = read;
      read = read == kRing - Tile::kStageElements ? 0 : read + Tile::kStageElements;
    }
    sums.give(p, TilePlace<kSide, kSide>(cut.tile_rows, cut.tile_columns, tile), way, s_stages + kRing);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
