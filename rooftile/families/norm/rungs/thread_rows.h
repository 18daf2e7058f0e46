// A thread for a row: the rungs that walk along it element by element.
#pragma once

#include "rooftile/families/norm/rungs/norm_device.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// statistics(row, first, scale) gives the Stats of a row by walks of one thread; first(j) is an element in its first walk.
template <class Norm, class T, class Statistics>
__device__ __forceinline__ void normalise_thread_row(const Operands<T>& call, Statistics statistics) {
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (r >= call.count()) return;
  const RowElements<T> row(call, r);
  const Results results = call.template results<Norm>([&](float scale) {
    const auto first = [&](std::int64_t j) { return scale == 1.0f ? row.take(j) : row.again(j) * scale; };
    return statistics(row, first, scale);
  });
  for (std::int64_t j = 0; j < call.length(); ++j) row.store(j, results.of(row.again(j)));
}

// Statistics in one walk: a Walk takes a row's elements one by one, add(v), and has its `stats`.
template <class Norm, class T, class Walk>
__global__ void __launch_bounds__(norm_plan::kLessonBlock) one_walk_kernel(Operands<T> call) {
  normalise_thread_row<Norm>(call, [&](const RowElements<T>&, auto first, float) {
    Walk walk;
    for (std::int64_t j = 0; j < call.length(); ++j) walk.add(first(j));
    return walk.stats;
  });
}

template <class Norm, class Walk = typename Norm::Walk, class Args>
Status launch_one_walk(const Call<Args>& call) {
  return dispatch_floats(call.args, [&]<class T>() {
    return launch_rows<T>(call, one_walk_kernel<Norm, T, Walk>, norm_plan::kLessonBlock,
                          norm_plan::kLessonBlock);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
