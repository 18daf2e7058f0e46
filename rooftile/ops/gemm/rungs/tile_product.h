// A block's tile of the product: its operands copied asynchronously some steps ahead, sums in registers.
#pragma once

#include <cstdint>

#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/gemm_device.h"
#include "rooftile/ops/gemm/rungs/operand_copy.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::kStages;

// Sizes of a tile (gemm_plan::TileShape), and where a thread's elements are in it: 8 x 4 lanes, each with vectors of 16 bytes
// in both directions, so that the lanes' vectors of one load lie side by side.
template <class T, bool kIsSmall>
struct Tile {
  static constexpr gemm_plan::TileShape kShape = gemm_plan::tile_shape(sizeof(T), kIsSmall);
  static constexpr int kRows = kShape.rows();
  static constexpr int kColumns = kShape.columns();
  static constexpr int kThreads = kShape.threads();
  static constexpr int kVector = kVecElements<T>;
  static constexpr int kThreadRows = gemm_plan::kThreadRows;
  static constexpr int kThreadColumns = kShape.thread_columns;
  static constexpr int kRowVectors = kThreadRows / kVector;  // of a thread, along a column
  static constexpr int kColumnVectors = kThreadColumns / kVector;
  static constexpr int kRowStep = 8 * kVector;  // between a thread's vectors
  static constexpr int kColumnStep = 4 * kVector;

  __device__ __forceinline__ static int warp_row() {
    return warp_index() / kShape.warp_columns * (8 * kThreadRows);
  }
  __device__ __forceinline__ static int warp_column() {
    return warp_index() % kShape.warp_columns * (4 * kThreadColumns);
  }
  __device__ __forceinline__ static int row(int vector) {
    return warp_row() + lane_index() % 8 * kVector + vector * kRowStep;
  }
  __device__ __forceinline__ static int column(int vector) {
    return warp_column() + lane_index() / 8 * kVector + vector * kColumnStep;
  }
};

// The sums of a thread.
template <class Tile, class T>
struct Sums {
  T at[Tile::kThreadRows][Tile::kThreadColumns];
  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < Tile::kThreadRows; ++i)
#pragma unroll
      for (int j = 0; j < Tile::kThreadColumns; ++j) at[i][j] = T{0};
  }
};

// What a thread multiplies in one step along k.
template <class Tile, class T>
struct Fragment {
  Vec<T, Tile::kVector> a[Tile::kRowVectors];
  Vec<T, Tile::kVector> b[Tile::kColumnVectors];
};

// A stage of shared memory has kDepth lines of a and as many of b.
template <class Tile, class T, bool kVectorsA, bool kVectorsB>
class TileProduct {
 public:
  using CopyA = OperandCopy<T, Tile::kRows, Tile::kThreads, kVectorsA>;
  using CopyB = OperandCopy<T, Tile::kColumns, Tile::kThreads, kVectorsB>;
  static constexpr int kStageElements = CopyA::kStageElements + CopyB::kStageElements;
  static constexpr std::size_t kSharedBytes = sizeof(T) * kStages * kStageElements;

  // Steps [first, last) of kDepth products each. The first step of all has what is left of k, none of the others less.
  __device__ __forceinline__ TileProduct(const Problem& p, std::int64_t batch, std::int64_t first_row,
                                         std::int64_t first_column, std::int64_t first, std::int64_t last,
                                         T* s_memory)
      : TileProduct(p, batch, first_row, first_column, first, last, s_memory,
                    static_cast<int>(p.k - (larger(ceil_div(p.k, kDepth), 1) - 1) * kDepth)) {}

  // Adds all products.
  __device__ __forceinline__ void add(Sums<Tile, T>& sums) {
#pragma unroll 1
    for (int s = 0; s < kStages - 1; ++s) {
      const int lines = s >= steps_ ? 0 : s == 0 ? first_lines_ : kDepth;
      T* s_stage = s_memory_ + s * kStageElements;
#pragma unroll
      for (int i = 0; i < CopyA::kCopies; ++i) copy_a_.copy_some(i, lines, s_stage);
#pragma unroll
      for (int i = 0; i < CopyB::kCopies; ++i) copy_b_.copy_some(i, lines, s_stage + CopyA::kStageElements);
      copy_a_.advance(lines);
      copy_b_.advance(lines);
      cp_async_commit();
    }
    cp_async_wait<kStages - 2>();
    __syncthreads();                             // the first step is there
    int read = 0;                                // of this step, in shared memory
    int write = (kStages - 1) * kStageElements;  // of the step that is copied meanwhile
#pragma unroll 1
    for (int left = steps_; left > 0; --left) {
      const bool has_more = left > kStages - 1;
#pragma unroll
      for (int d = 0; d < kDepth; ++d) {
        const Fragment<Tile, T> fragment = load(read, d);
        if (d == 1) {
#pragma unroll
          for (int i = 0; i < CopyA::kCopies; ++i) copy_a_.copy(i, has_more, s_memory_ + write);
#pragma unroll
          for (int i = 0; i < CopyB::kCopies; ++i)
            copy_b_.copy(i, has_more, s_memory_ + write + CopyA::kStageElements);
          cp_async_commit();
        }
        multiply(fragment, sums);
      }
      cp_async_wait<kStages - 2>();
      __syncthreads();  // the next step is there, and this one is read
      copy_a_.advance(kDepth);
      copy_b_.advance(kDepth);
      write = read;
      read = read == (kStages - 1) * kStageElements ? 0 : read + kStageElements;
    }
    cp_async_wait_all();
    __syncthreads();  // nobody reads shared memory, and nothing arrives there any more
  }

 private:
  __device__ __forceinline__ TileProduct(const Problem& p, std::int64_t batch, std::int64_t first_row,
                                         std::int64_t first_column, std::int64_t first, std::int64_t last,
                                         T* s_memory, int rest)
      : copy_a_({static_cast<const T*>(p.a_data) + batch * p.a.batch, p.a.column, p.a.row},
                first == 0 ? 0 : rest + (first - 1) * kDepth, first_row, p.m),
        copy_b_({static_cast<const T*>(p.b_data) + batch * p.b.batch, p.b.row, p.b.column},
                first == 0 ? 0 : rest + (first - 1) * kDepth, first_column, p.n),
        s_memory_(s_memory),
        s_a_(s_memory + Tile::row(0)),
        s_b_(s_memory + CopyA::kStageElements + Tile::column(0)),
        steps_(static_cast<int>(last - first)),
        first_lines_(first == 0 ? rest : kDepth) {}

  __device__ __forceinline__ Fragment<Tile, T> load(int stage, int depth) const {
    Fragment<Tile, T> fragment;
#pragma unroll
    for (int v = 0; v < Tile::kRowVectors; ++v)
      fragment.a[v] = load_vec(s_a_ + stage + depth * CopyA::kPitch + v * Tile::kRowStep);
#pragma unroll
    for (int v = 0; v < Tile::kColumnVectors; ++v)
      fragment.b[v] = load_vec(s_b_ + stage + depth * CopyB::kPitch + v * Tile::kColumnStep);
    return fragment;
  }
  __device__ __forceinline__ static void multiply(const Fragment<Tile, T>& fragment, Sums<Tile, T>& sums) {
#pragma unroll
    for (int i = 0; i < Tile::kThreadRows; ++i)
#pragma unroll
      for (int j = 0; j < Tile::kThreadColumns; ++j)
        sums.at[i][j] = multiply_add(fragment.a[i / Tile::kVector][i % Tile::kVector],
                                     fragment.b[j / Tile::kVector][j % Tile::kVector], sums.at[i][j]);
  }

  CopyA copy_a_;
  CopyB copy_b_;
  T* s_memory_;
  const T* s_a_;  // of the thread's own, in the first stage
  const T* s_b_;
  int steps_;
  int first_lines_;
};

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
