// One lane adds for all that have its bin.
//
// Idea       the lanes of a warp find those with the same bin by one instruction, and the first of them adds their number.
// Change     no two lanes meet at a counter: equal elements cost as much as any others.
// Limits     f32, u32 and u8; no weights.
// Bottleneck the search, which costs more than it saves where elements differ.
// Source     CUDA C++ Programming Guide, __match_any_sync.
#include "rooftile/ops/histogram/rungs/histogram_device.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {
namespace {

constexpr int kThreads = histogram_plan::kBlock;

template <class T>
__global__ void __launch_bounds__(kThreads)
    match_aggregated_kernel(Elements<T> elements, Totals<std::uint32_t> totals) {
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_counts = reinterpret_cast<std::uint32_t*>(s_memory);
  const int bins = totals.bins;
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += kThreads) s_counts[b] = 0;
  __syncthreads();  // zeros
  const auto all = CoveringVectors<T>::of(elements.g_in, elements.n);
  // All lanes of a warp go round as often: behind the last vector a lane has no bin.
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  for (std::int64_t first = std::int64_t{blockIdx.x} * kThreads; first < all.vectors; first += step) {
    const std::int64_t v = first + threadIdx.x;
    const unsigned mask = all.mask(v);
    Vec<T, kVecElements<T>> vec{};
    if (mask != 0) vec = all.load(v);
#pragma unroll
    for (int j = 0; j < kVecElements<T>; ++j) {
      const int bin = (mask >> j & 1u) != 0 ? elements.bin_of(vec[j]) : kNoBin;
      const unsigned same = __match_any_sync(kFullMask, bin);
      const bool is_first = (same & ((1u << lane_index()) - 1u)) == 0;
      if (bin != kNoBin && is_first) atomicAdd(&s_counts[bin], static_cast<std::uint32_t>(__popc(same)));
    }
  }
  __syncthreads();  // the part is counted
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += kThreads) totals.add(b, s_counts[b]);
  totals.template finish<kThreads>(0, gridDim.x, 0, bins);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return dispatch_elements<LessonElements>(call.args, [&]<class T>() {
    const auto& cut = call.config<histogram_plan::Cut>();
    return launch(match_aggregated_kernel<T>,
                  {.grid = dim3(static_cast<unsigned>(cut.parts)),
                   .block = dim3(kThreads),
                   .shared_bytes = static_cast<std::size_t>(cut.range_bins) * sizeof(std::uint32_t),
                   .stream = call.stream},
                  elements_of<T>(call.args), Totals<std::uint32_t>::of(call));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
