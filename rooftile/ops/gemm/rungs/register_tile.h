// What the rungs from thread_tile to warp_tile share: a block of 256 threads has 128 x 128 elements of out, a thread 8 x 8 of
// them, and 8 steps along k are in shared memory.
#pragma once

#include <cstdint>

#include "rooftile/device/vec.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/gemm/rungs/gemm_device.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

inline constexpr int kTileSide = 128;
inline constexpr int kTileDepth = 8;
inline constexpr int kTileThreads = 256;
inline constexpr int kOwn = 8;  // rows and columns of a thread

// A step's operands. Lines of a are 16 bytes longer than they need to be: what two threads write of one row of it, four lines
// apart, would meet in one bank.
struct StepTiles {
  static constexpr int kPitchA = kTileSide + 4;
  __align__(16) float a[kTileDepth][kPitchA];  // [k][m]
  __align__(16) float b[kTileDepth][kTileSide];
};

struct OwnSums {
  float at[kOwn][kOwn] = {};

  template <class A, class B>
  __device__ __forceinline__ void add(const A& r_a, const B& r_b) {
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
#pragma unroll
      for (int j = 0; j < kOwn; ++j) at[i][j] = multiply_add(r_a[i], r_b[j], at[i][j]);
  }
};

// Where the block's tile begins.
struct BlockPlace {
  std::int64_t row;
  std::int64_t column;
  std::int64_t batch;
  __device__ __forceinline__ explicit BlockPlace(unsigned tile_rows)
      : row(blockIdx.x % tile_rows * std::int64_t{kTileSide}),
        column(blockIdx.x / tile_rows * std::int64_t{kTileSide}),
        batch(blockIdx.y) {}
};

// Two vectors of four rows (columns) each: at `first`, and `step` behind it.
struct OwnPlace {
  int first;
  int step;
  __device__ __forceinline__ int at(int i) const { return first + i / 4 * step + i % 4; }
};

// A thread's vector of each operand: of a along k, of b along n.
class StepVectors {
 public:
  __device__ __forceinline__ StepVectors(const Problem& p, const BlockPlace& block)
      : p_(p),
        g_a_(static_cast<const float*>(p.a_data) + block.batch * p.a.batch),
        g_b_(static_cast<const float*>(p.b_data) + block.batch * p.b.batch),
        row_(block.row + row_of_a()),
        column_(block.column + column_of_b()) {}
  // Zeros where there is nothing.
  __device__ __forceinline__ void load(std::int64_t k) {
    r_a_ = {};
    r_b_ = {};
    if (row_ < p_.m && k + line_of_a() < p_.k) r_a_ = load_vec(g_a_ + row_ * p_.a.row + k + line_of_a());
    if (column_ < p_.n && k + line_of_b() < p_.k)
      r_b_ = load_vec(g_b_ + (k + line_of_b()) * p_.b.row + column_);
  }
  __device__ __forceinline__ void store(StepTiles& s) const {
#pragma unroll
    for (int e = 0; e < 4; ++e) s.a[line_of_a() + e][row_of_a()] = r_a_[e];
    store_vec(&s.b[line_of_b()][column_of_b()], r_b_);
  }

 private:
  __device__ __forceinline__ static int row_of_a() { return static_cast<int>(threadIdx.x) / 2; }
  __device__ __forceinline__ static int line_of_a() { return static_cast<int>(threadIdx.x) % 2 * 4; }
  __device__ __forceinline__ static int line_of_b() { return static_cast<int>(threadIdx.x) / 32; }
  __device__ __forceinline__ static int column_of_b() { return static_cast<int>(threadIdx.x) % 32 * 4; }

  const Problem& p_;
  const float* g_a_;
  const float* g_b_;
  std::int64_t row_;
  std::int64_t column_;
  Vec<float, 4> r_a_;
  Vec<float, 4> r_b_;
};

// Adds the products of a step, by loads of 16 bytes.
__device__ __forceinline__ void add_step(const StepTiles& s, const OwnPlace& rows, const OwnPlace& columns,
                                         OwnSums& sums) {
#pragma unroll
  for (int d = 0; d < kTileDepth; ++d) {
    float r_a[kOwn];
    float r_b[kOwn];
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      const Vec<float, 4> a = load_vec(&s.a[d][rows.at(4 * v)]);
      const Vec<float, 4> b = load_vec(&s.b[d][columns.at(4 * v)]);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        r_a[4 * v + e] = a[e];
        r_b[4 * v + e] = b[e];
      }
    }
    sums.add(r_a, r_b);
  }
}

__device__ __forceinline__ void give_sums(const Problem& p, const BlockPlace& block, const OwnPlace& rows,
                                          const OwnPlace& columns, const OwnSums& sums, bool vectors) {
  const Output<float, false> output(p, block.batch);
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      Vec<float, 4> vec;
#pragma unroll
      for (int e = 0; e < 4; ++e) vec[e] = sums.at[i][4 * v + e];
      output.give(vec, block.row + rows.at(i), block.column + columns.at(4 * v), vectors);
    }
  }
}

// kernel(problem, tile_rows, vectors): a block for each tile.
template <class Kernel>
Status launch_register_tiles(const Call<GemmArgs>& call, Kernel kernel) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  const std::int64_t tile_rows = ceil_div(problem.m, kTileSide);
  const std::int64_t tiles = tile_rows * ceil_div(problem.n, kTileSide);
  constexpr std::int64_t kMaxBatches = 65535;  // blocks along y
  if (tiles > kMaxGrid || problem.batches > kMaxBatches) return unsupported("too many blocks for one grid");
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(problem.batches)),
                 .block = dim3(kTileThreads),
                 .stream = call.stream},
                problem, static_cast<unsigned>(tile_rows), has_vectors_of_out<float>(problem));
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
