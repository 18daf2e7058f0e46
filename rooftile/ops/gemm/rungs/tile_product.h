// A block's tile of the product: its operands brought into shared memory some steps ahead, sums in registers.
#pragma once

#include <cstdint>

#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/gemm_device.h"
#include "rooftile/ops/gemm/rungs/operand_copy.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::TileSize;

// Sizes of a tile (gemm_plan::TileShape), and where a thread's elements are in it: 8 x 4 lanes, each with vectors of 16 bytes
// in both directions, so that the lanes' vectors of one load lie side by side.
template <class T, TileSize kSize_>
struct Tile {
  static constexpr TileSize kSize = kSize_;
  static constexpr gemm_plan::TileShape kShape = gemm_plan::tile_shape(sizeof(T), kSize);
  static constexpr int kRows = kShape.rows();
  static constexpr int kColumns = kShape.columns();
  static constexpr int kDepth = kShape.depth();
  static constexpr int kSlices = kShape.slices;
  static constexpr int kStages = kShape.stages;
  static constexpr int kThreads = kShape.threads();
  static constexpr int kVector = kVecElements<T>;
  static constexpr int kThreadRows = gemm_plan::kThreadRows;
  static constexpr int kThreadColumns = kShape.thread_columns;
  static constexpr int kRowVectors = kThreadRows / kVector;  // of a thread, along a column
  static constexpr int kColumnVectors = kThreadColumns / kVector;
  static constexpr int kRowStep = 8 * kVector;  // between a thread's vectors
  static constexpr int kColumnStep = 4 * kVector;

  __device__ __forceinline__ static int slice() {
    return warp_index() / (kShape.warp_rows * kShape.warp_columns);
  }
  // Where a vector of rows, or of columns, of a thread begins.
  __device__ __forceinline__ static int row(int vector, unsigned thread = threadIdx.x) {
    const auto warp = static_cast<int>(thread / kWarpSize);
    const auto lane = static_cast<int>(thread % kWarpSize);
    return warp / kShape.warp_columns % kShape.warp_rows * (8 * kThreadRows) + lane % 8 * kVector +
           vector * kRowStep;
  }
  __device__ __forceinline__ static int column(int vector, unsigned thread = threadIdx.x) {
    const auto warp = static_cast<int>(thread / kWarpSize);
    const auto lane = static_cast<int>(thread % kWarpSize);
    return warp % kShape.warp_columns * (4 * kThreadColumns) + lane / 8 * kVector + vector * kColumnStep;
  }
};

// What a thread multiplies of one line.
template <class Tile, class T>
struct Fragment {
  Vec<T, Tile::kVector> a[Tile::kRowVectors];
  Vec<T, Tile::kVector> b[Tile::kColumnVectors];
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
  // By a factor that the compiler does not know: it would have sums that are stored as vectors stand as vectors in the loop that makes
  // them, too, each in the bank of the element of b that it is multiplied with.
  __device__ __forceinline__ void scale(T factor) {
#pragma unroll
    for (int i = 0; i < Tile::kThreadRows; ++i)
#pragma unroll
      for (int j = 0; j < Tile::kThreadColumns; ++j) at[i][j] *= factor;
  }
  __device__ __forceinline__ Vec<T, Tile::kVector> vector(int i, int v) const {
    Vec<T, Tile::kVector> vec;
#pragma unroll
    for (int e = 0; e < Tile::kVector; ++e) vec[e] = at[i][v * Tile::kVector + e];
    return vec;
  }
  // Down one pair of columns and up the next: one of two operands is that of the product before, and stays in the cache
  // of the registers' banks, which have two reads a cycle for the three of a multiply-add.
  __device__ __forceinline__ void add(const Fragment<Tile, T>& fragment) {
    const auto multiply = [&](int i, int j) {
      at[i][j] = multiply_add(fragment.a[i / Tile::kVector][i % Tile::kVector],
                              fragment.b[j / Tile::kVector][j % Tile::kVector], at[i][j]);
    };
#pragma unroll
    for (int j = 0; j < Tile::kThreadColumns; j += 2) {
#pragma unroll
      for (int step = 0; step < Tile::kThreadRows; ++step) {
        const int i = j % 4 == 0 ? step : Tile::kThreadRows - 1 - step;
        multiply(i, j + step % 2);
        multiply(i, j + 1 - step % 2);
      }
    }
  }
};

// Steps [first, last) of a tile, kDepth lines each. Step 0 has the lines behind the last multiple of kDepth, or the last kDepth;
// step s those from (s - 1) * kDepth on, so that none but step 0 has fewer and all begin where a vector may.
template <int kDepth>
struct TileSteps {
  int count;
  int first_lines;          // of the first of them
  std::int64_t first_line;  // where it begins
  std::int64_t to_second;   // lines from there to the second
  __device__ __forceinline__ TileSteps(std::int64_t k, std::int64_t first, std::int64_t last) {
    const std::int64_t last_line = (larger(ceil_div(k, kDepth), 1) - 1) * kDepth;
    count = static_cast<int>(last - first);
    first_lines = first == 0 ? static_cast<int>(k - last_line) : kDepth;
    first_line = first == 0 ? last_line : (first - 1) * kDepth;
    to_second = first == 0 ? -last_line : kDepth;
  }
};

template <class T>
__device__ __forceinline__ Operand<T> operand_a(const Problem& p, std::int64_t batch) {
  return {static_cast<const T*>(p.a_data) + batch * p.a.batch, p.a.column, p.a.row};
}
template <class T>
__device__ __forceinline__ Operand<T> operand_b(const Problem& p, std::int64_t batch) {
  return {static_cast<const T*>(p.b_data) + batch * p.b.batch, p.b.row, p.b.column};
}

// A stage of shared memory has kDepth lines of a and as many of b. A warp takes the lines of its slice.
template <class Tile, class T, class CopyA, class CopyB>
class TileProduct {
 public:
  using Steps = TileSteps<Tile::kDepth>;
  static constexpr int kStages = Tile::kStages + (Tile::kSlices > 1 && CopyA::kParts > 1 ? 1 : 0);
  static constexpr int kStageElements = CopyA::kStageElements + CopyB::kStageElements;
  static constexpr std::size_t kSharedBytes = sizeof(T) * kStages * kStageElements;

  __device__ __forceinline__ TileProduct(const CopyA& copy_a, const CopyB& copy_b, const Steps& steps,
                                         T* s_memory)
      : copy_a_(copy_a),
        copy_b_(copy_b),
        steps_(steps),
        s_memory_(s_memory),
        s_a_(s_memory + Tile::slice() * kLines * CopyA::kPitch +
             (Tile::row(0) ^ CopyA::swizzle(Tile::slice() * kLines))),
        s_b_(s_memory + CopyA::kStageElements + Tile::slice() * kLines * CopyB::kPitch +
             (Tile::column(0) ^ CopyB::swizzle(Tile::slice() * kLines))) {}

  // Adds all products.
  __device__ __forceinline__ void add(Sums<Tile, T>& sums) {
    start();
    int read = 0;                                // of this step, in shared memory
    int write = (kStages - 1) * kStageElements;  // of the step that comes meanwhile
    Fragment<Tile, T> fragments[2];
    if constexpr (kLooksAhead) load(read, 0, fragments[0]);
#pragma unroll 1
    for (int left = steps_.count; left > 0; --left) {
      // Behind the last step the same once more: it has been written.
      const int next = left == 1 ? read : read == (kStages - 1) * kStageElements ? 0 : read + kStageElements;
      const bool is_more = left > kStages - 1;
#pragma unroll
      for (int d = 0; d < kLines; ++d) {
        if constexpr (kLooksAhead) {
          if (d == kLines - 1) finish_step(left > 1);
          load(d == kLines - 1 ? next : read, (d + 1) % kLines, fragments[(d + 1) % 2]);
        } else {
          load(read, d, fragments[d % 2]);
        }
        if (d < CopyA::kParts) copy_a_.copy(d, is_more, s_memory_ + write);
        if (d < CopyB::kParts) copy_b_.copy(d, is_more, s_memory_ + write + CopyA::kStageElements);
        if (d == kLastPart) commit();
        if (d == kStoreAt) {
          copy_a_.store(staged_a_, s_memory_ + write);
          copy_b_.store(staged_b_, s_memory_ + write + CopyA::kStageElements);
        }
        if (d == kStoreAt + 1) {
          copy_a_.advance(Tile::kDepth);
          copy_b_.advance(Tile::kDepth);
          fetch(left > kStages);
        }
        sums.add(fragments[d % 2]);
      }
      if constexpr (!kLooksAhead) finish_step(left > 1);
      write = read;
      read = next;
    }
    if constexpr (kHasGroups) cp_async_wait_all();
    __syncthreads();  // nobody reads shared memory, and nothing arrives there any more
  }

 private:
  static constexpr int kLines = gemm_plan::kDepth;  // of a slice
  // Turned vectors are asked for behind this line of a step and stored at it in the next: far enough apart for global memory.
  static constexpr int kStoreAt = 3;
  static constexpr int kLastPart = (CopyA::kParts > CopyB::kParts ? CopyA::kParts : CopyB::kParts) - 1;
  static_assert(kLastPart <= kStoreAt, "copies are asked for before their addresses go on");
  static constexpr bool kHasGroups = CopyA::kHasGroups || CopyB::kHasGroups;
  // Two f64 operands on their way through the registers leave no room there for the next line: 37 loads and stores of local memory.
  static constexpr bool kLooksAhead = Tile::kShape.looks_ahead && (sizeof(T) < 8 || kHasGroups);

  // The first kStages - 1 steps on their way, and the first one there. Code that runs once comes from memory: a loop, where no step is
  // in registers and copies are many.
  static constexpr int kStartsAtOnce = CopyA::kParts > 1 && CopyB::kParts > 1 ? 1 : kStages - 1;
  __device__ __forceinline__ void start() {
    typename CopyA::Staged staged_a[kStages - 1];
    typename CopyB::Staged staged_b[kStages - 1];
#pragma unroll kStartsAtOnce
    for (int s = 0; s < kStages - 1; ++s) {
      const int lines = s >= steps_.count ? 0 : s == 0 ? steps_.first_lines : Tile::kDepth;
      T* s_stage = s_memory_ + s * kStageElements;
      copy_a_.fetch_some(lines, staged_a[s]);
      copy_b_.fetch_some(lines, staged_b[s]);
      copy_a_.copy_some(lines, s_stage);
      copy_b_.copy_some(lines, s_stage + CopyA::kStageElements);
      commit();
      copy_a_.advance(s == 0 ? steps_.to_second : Tile::kDepth);
      copy_b_.advance(s == 0 ? steps_.to_second : Tile::kDepth);
    }
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) {
      copy_a_.store(staged_a[s], s_memory_ + s * kStageElements);
      copy_b_.store(staged_b[s], s_memory_ + s * kStageElements + CopyA::kStageElements);
    }
    fetch(steps_.count >= kStages);
    finish_step(steps_.first_lines > 0);
  }
  __device__ __forceinline__ void fetch(bool is_there) {
    copy_a_.fetch(is_there, staged_a_);
    copy_b_.fetch(is_there, staged_b_);
  }
  __device__ __forceinline__ static void commit() {
    if constexpr (kHasGroups) cp_async_commit();
  }
  __device__ __forceinline__ void finish_step(bool is_more) {
    if constexpr (kHasGroups) cp_async_wait<kStages - 2>();
    copy_a_.wait(is_more);
    copy_b_.wait(is_more);
    __syncthreads();  // the next step is there, and this one has been read
  }
  __device__ __forceinline__ void load(int stage, int depth, Fragment<Tile, T>& fragment) const {
#pragma unroll
    for (int v = 0; v < Tile::kRowVectors; ++v)
      fragment.a[v] = load_vec(s_a_ + stage + depth * CopyA::kPitch + v * Tile::kRowStep);
#pragma unroll
    for (int v = 0; v < Tile::kColumnVectors; ++v)
      fragment.b[v] = load_vec(s_b_ + stage + depth * CopyB::kPitch + v * Tile::kColumnStep);
  }

  CopyA copy_a_;
  CopyB copy_b_;
  typename CopyA::Staged staged_a_{};  // of the step behind those that are in shared memory
  typename CopyB::Staged staged_b_{};
  Steps steps_;
  T* s_memory_;
  const T* s_a_;  // of the thread's own, in the first stage
  const T* s_b_;
};

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
