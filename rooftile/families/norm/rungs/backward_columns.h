// A kernel for the rows, one for the columns: of any length and any strides.
#pragma once

#include "rooftile/families/norm/rungs/backward_device.h"
#include "rooftile/families/norm/rungs/block_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm::backward {

// A block for a row: what the columns have to know of it, and dx unless only_found.
template <class Norm, class T>
__global__ void __launch_bounds__(norm_backward_plan::kRowThreads)
    gradient_rows_kernel(Operands<T> call, bool only_found) {
  using Threads = RowThreads<norm_backward_plan::kRowThreads>;
  __shared__ typename Norm::template StatsOf<double> s_stats[2][Threads::kWarps];
  __shared__ Means<double> s_means[Threads::kWarps];
  const auto& rows = call.places.rows;
  const std::int64_t r = blockIdx.x;
  const std::int64_t n = call.length();
  const T* g_x = call.x(r);
  const T* g_dy = call.dy(r);
  const T* g_dsum = call.dsum(r);
  T* g_dx = call.dx(r);
  const auto value = [&](std::int64_t j) { return static_cast<float>(g_x[j * rows.tensors[kX].step]); };
  const auto g = [&](std::int64_t j) {
    const auto dy = static_cast<float>(g_dy[j * rows.tensors[kDy].step]);
    return call.g_weight == nullptr ? dy : dy * static_cast<float>(call.g_weight[j]);
  };
  const Results results = results_of<Norm>(n, call.eps, [&](float scale) {
    return block_stats<Norm, Threads>(n, s_stats[scale == 1.0f ? 0 : 1],
                                      [&](std::int64_t j) { return value(j) * scale; });
  });
  if (threadIdx.x == 0) call.g_found[r] = results;
  if (only_found) return;
  Means<double> sums{};
  for (std::int64_t j = threadIdx.x; j < n; j += Threads::kThreads) {
    sums.g += static_cast<double>(g(j));
    sums.gx += static_cast<double>(g(j) * results.of(value(j)));
  }
  sums = Threads::all_reduce(sums, Means<double>{}, s_means, [](auto lanes, const Means<double>& own) {
    return Means<double>::over_lanes(lanes, own);
  });
  const Gradient gradient =
      Gradient::of<Norm>(results, static_cast<float>(sums.g), static_cast<float>(sums.gx), n);
  for (std::int64_t j = threadIdx.x; j < n; j += Threads::kThreads) {
    float dx = gradient.at(g(j), results.of(value(j)));
    if (g_dsum != nullptr) dx += static_cast<float>(g_dsum[j * rows.tensors[kDsum].step]);
    g_dx[j * rows.tensors[kDx].step] = rounded<T>(dx);
  }
}

// A part's rows of 32 columns, a warp in every kColumnWarps-th of them.
template <class T>
__global__ void __launch_bounds__(norm_backward_plan::kColumnWarps* kWarpSize)
    column_parts_kernel(Operands<T> call) {
  constexpr int kWarps = norm_backward_plan::kColumnWarps;
  __shared__ float s_sums[2][kWarps][kWarpSize];
  const auto& rows = call.places.rows;
  const std::int64_t n = call.length();
  const std::int64_t j = std::int64_t{blockIdx.x} * kWarpSize + lane_index();
  const std::int64_t first = std::int64_t{blockIdx.y} * call.part_rows;
  const std::int64_t last = smaller(first + call.part_rows, call.count());
  float dweight = 0;
  float dbias = 0;
  for (std::int64_t r = first + warp_index(); r < last && j < n; r += kWarps) {
    const auto v = static_cast<float>(call.x(r)[j * rows.tensors[kX].step]);
    const auto dy = static_cast<float>(call.dy(r)[j * rows.tensors[kDy].step]);
    dweight = fmaf(dy, call.g_found[r].of(v), dweight);
    dbias += dy;
  }
  s_sums[0][warp_index()][lane_index()] = dweight;
  s_sums[1][warp_index()][lane_index()] = dbias;
  __syncthreads();  // the sums are there
  if (warp_index() > 1 || j >= n) return;
  float sum = 0;
#pragma unroll
  for (int warp = 0; warp < kWarps; ++warp) sum += s_sums[warp_index()][warp][lane_index()];
  call.g_parts[(std::int64_t{blockIdx.y} * 2 + warp_index()) * n + j] = sum;
}

template <class Norm, class T>
Status launch_gradient_rows(StreamRef stream, const Operands<T>& operands, bool only_found) {
  return launch(gradient_rows_kernel<Norm, T>,
                {.grid = dim3(static_cast<unsigned>(operands.places.rows.count)),
                 .block = dim3(norm_backward_plan::kRowThreads),
                 .stream = stream},
                operands, only_found);
}

// Where dx takes dy's place the columns go first.
template <class Norm, class Args>
Status launch_columns(const Call<Args>& call) {
  return dispatch_floats(call.args, [&]<class T>() -> Status {
    const Operands<T> operands = operands_of<T>(call);
    const Rows<kTensors>& rows = operands.places.rows;
    if (rows.length == 0) return {};
    const bool in_place = operands.g_dx == operands.g_dy;
    if (rows.count > 0) {
      ROOFTILE_TRY(launch_gradient_rows<Norm>(call.stream, operands, in_place));
      ROOFTILE_TRY(launch(column_parts_kernel<T>,
                          {.grid = dim3(static_cast<unsigned>(ceil_div(rows.length, kWarpSize)),
                                        static_cast<unsigned>(operands.parts)),
                           .block = dim3(norm_backward_plan::kColumnWarps * kWarpSize),
                           .stream = call.stream},
                          operands));
      if (in_place) ROOFTILE_TRY(launch_gradient_rows<Norm>(call.stream, operands, false));
    }
    return sum_parts(call.stream, operands);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm::backward
