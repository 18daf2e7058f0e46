// A block for a row of any length and any strides, read twice.
#pragma once

#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// Of a row of n elements, in every thread of its block. Eight elements of a thread are on their way at once, and make one step of
// its statistics, which are in double: a chain of any length is exact enough. value(j) is asked once for each element.
template <class Norm, class Threads, class Value>
__device__ __forceinline__ typename Norm::Stats block_stats(
    std::int64_t n, typename Norm::template StatsOf<double> (&s_stats)[Threads::kWarps], Value value) {
  using Long = typename Norm::template StatsOf<double>;
  constexpr int kInFlight = 8;
  Long stats{};
  for (std::int64_t j = threadIdx.x; j < n; j += kInFlight * Threads::kThreads) {
    float values[kInFlight];
    float count = 0;
    float sum = 0;
    const auto for_own = [&](auto body) {
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const std::int64_t at = j + i * Threads::kThreads;
        if (at < n) body(i, at);
      }
    };
    for_own([&](int i, std::int64_t at) { values[i] = value(at); });
    for_own([&](int i, std::int64_t) {
      count += 1;
      sum += values[i];
    });
    const float centre = Norm::centre(sum, count);
    Differences found;
    for_own([&](int i, std::int64_t) { found.add(values[i] - centre); });
    stats = Norm::combined(stats, Norm::about(centre, count, found));
  }
  return Norm::single(Threads::all_reduce(
      stats, Long{}, s_stats, [](auto lanes, const Long& own) { return Norm::over_lanes(lanes, own); }));
}

template <class Norm, class T>
__global__ void __launch_bounds__(norm_plan::kBlockRowThreads) block_rows_kernel(Operands<T> call) {
  using Threads = RowThreads<norm_plan::kBlockRowThreads>;
  // By the first statistics, by those of scaled elements.
  __shared__ typename Norm::template StatsOf<double> s_stats[2][Threads::kWarps];
  const RowElements<T> row(call, blockIdx.x);
  const Results results = call.template results<Norm>([&](float scale) {
    const bool is_first = scale == 1.0f;
    return block_stats<Norm, Threads>(call.length(), s_stats[is_first ? 0 : 1], [&](std::int64_t j) {
      return is_first ? row.take(j) : row.again(j) * scale;
    });
  });
  for (std::int64_t j = threadIdx.x; j < call.length(); j += Threads::kThreads)
    row.store(j, results.of(row.again(j)));
}

template <class Norm, class Args>
Status launch_block_rows(const Call<Args>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, block_rows_kernel<Norm, T>, norm_plan::kBlockRowThreads, 1);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
