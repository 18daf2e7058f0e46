// A range of bins in the shared memory of a block: of shared_privatised all of them, of multi_pass and weighted_atomics some.
#pragma once

#include "rooftile/ops/histogram/rungs/histogram_device.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {

// Block (p, r) counts part p of the elements, as far as they are in range r.
template <class T, class Count, int kThreads>
__global__ void __launch_bounds__(kThreads)
    range_counts_kernel(Elements<T> elements, Weights weights, Totals<Count> totals, int range_bins) {
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_counts = reinterpret_cast<Count*>(s_memory);
  const int range = static_cast<int>(blockIdx.y);
  const int first = range * range_bins;
  const int last = first + range_bins < totals.bins ? first + range_bins : totals.bins;
  for (int b = static_cast<int>(threadIdx.x); b < last - first; b += kThreads) s_counts[b] = 0;
  __syncthreads();  // zeros
  const auto add = [&](int bin, Count count) {
    if (bin >= first && bin < last) atomicAdd(&s_counts[bin - first], count);
  };
  if constexpr (std::is_same_v<Count, double>) {
    // One at a time: lanes side by side read weights side by side.
    const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
#pragma unroll 4
    for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < elements.n; i += step)
      add(elements.bin_of(elements.g_in[i]), weights.at(i));
  } else {
    elements.template for_bins<kThreads, 1>(blockIdx.x, gridDim.x, [&](int bin) { add(bin, 1); });
  }
  __syncthreads();  // the part is counted
  for (int b = static_cast<int>(threadIdx.x); b < last - first; b += kThreads)
    totals.add(first + b, s_counts[b]);
  totals.template finish<kThreads>(range, gridDim.x, first, last);
}

template <class Count, int kThreads>
Status launch_range_counts(const Call<HistogramArgs>& call) {
  return dispatch_elements<AllElements>(call.args, [&]<class T>() {
    const auto& cut = call.config<histogram_plan::Cut>();
    return launch(range_counts_kernel<T, Count, kThreads>,
                  {.grid = dim3(static_cast<unsigned>(cut.parts), static_cast<unsigned>(cut.ranges)),
                   .block = dim3(kThreads),
                   .shared_bytes = static_cast<std::size_t>(cut.range_bins) * sizeof(Count),
                   .stream = call.stream},
                  elements_of<T>(call.args), Weights::of(call.args), Totals<Count>::of(call), cut.range_bins);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
