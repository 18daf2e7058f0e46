// A thread for each element of out: what the two naive rungs share.
#pragma once

#include "rooftile/ops/gemm/rungs/gemm_device.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

inline constexpr int kNaiveSide = 32;  // of a block's square of elements
inline constexpr int kNaiveThreads = kNaiveSide * kNaiveSide;

template <class T>
__device__ __forceinline__ void give_element(const Problem& p, std::int64_t batch, std::int64_t row,
                                             std::int64_t column) {
  if (batch >= p.batches || row >= p.m || column >= p.n) return;
  const T* g_a = static_cast<const T*>(p.a_data) + batch * p.a.batch + row * p.a.row;
  const T* g_b = static_cast<const T*>(p.b_data) + batch * p.b.batch + column * p.b.column;
  T sum = 0;
  for (std::int64_t i = 0; i < p.k; ++i) sum = multiply_add(g_a[i * p.a.column], g_b[i * p.b.row], sum);
  Output<T>(p, batch).give(sum, row, column);
}

// Blocks of kNaiveSide x kNaiveSide elements. more: what the kernel takes behind the problem and the number of rows of blocks.
template <class Kernel, class... More>
Status launch_elements(const Call<GemmArgs>& call, Kernel kernel, More... more) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  const std::int64_t tile_rows = ceil_div(problem.m, kNaiveSide);
  const std::int64_t tiles = tile_rows * ceil_div(problem.n, kNaiveSide);
  ROOFTILE_TRY_ASSIGN(const dim3 grid, grid_of_products(tiles, problem.batches));
  return launch(kernel, {.grid = grid, .block = dim3(kNaiveThreads), .stream = call.stream}, problem,
                static_cast<unsigned>(tile_rows), more...);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
