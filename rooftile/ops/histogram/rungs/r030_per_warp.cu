// Counters of the warp's own.
//
// Idea       every warp of the block has counters in shared memory; the block adds them up when it is done.
// Change     only lanes of one warp can meet at a counter.
// Limits     an eighth of the bins; f32, u32 and u8; no weights.
// Bottleneck additions in shared memory: a GPU's warps do not wait for each other's, so that little is won.
// Source     Podlozhnyuk (2007).
#include "rooftile/ops/histogram/rungs/histogram_device.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {
namespace {

constexpr int kThreads = histogram_plan::kBlock;
constexpr int kWarps = histogram_plan::kWarps;

template <class T>
__global__ void __launch_bounds__(kThreads)
    per_warp_kernel(Elements<T> elements, Totals<std::uint32_t> totals) {
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_counts = reinterpret_cast<std::uint32_t*>(s_memory);
  const int bins = totals.bins;
  for (int b = static_cast<int>(threadIdx.x); b < bins * kWarps; b += kThreads) s_counts[b] = 0;
  __syncthreads();  // zeros
  std::uint32_t* s_own = s_counts + warp_index() * bins;
  elements.template for_bins<kThreads, 1>(blockIdx.x, gridDim.x, [&](int bin) {
    if (bin != kNoBin) atomicAdd(&s_own[bin], 1u);
  });
  __syncthreads();  // the part is counted
  for (int b = static_cast<int>(threadIdx.x); b < bins; b += kThreads) {
    std::uint32_t sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += s_counts[w * bins + b];
    totals.add(b, sum);
  }
  totals.template finish<kThreads>(0, gridDim.x, 0, bins);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return dispatch_elements<LessonElements>(call.args, [&]<class T>() {
    const auto& cut = call.config<histogram_plan::Cut>();
    return launch(per_warp_kernel<T>,
                  {.grid = dim3(static_cast<unsigned>(cut.parts)),
                   .block = dim3(kThreads),
                   .shared_bytes = static_cast<std::size_t>(cut.range_bins) * kWarps * sizeof(std::uint32_t),
                   .stream = call.stream},
                  elements_of<T>(call.args), Totals<std::uint32_t>::of(call));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
