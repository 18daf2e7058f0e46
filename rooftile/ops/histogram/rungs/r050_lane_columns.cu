// A column for every lane.
//
// Idea       copies of the counters lie side by side in shared memory: lane l adds to copy l modulo their number. Of up to 1024
//            bins there is a copy, and with it a bank, for every lane.
// Change     no two lanes of a warp meet at a counter or at a bank, whatever the elements; several vectors in flight.
// Limits     up to 32768 bins; of more than 1024 lanes share copies. No weights.
// Bottleneck DRAM; with few bytes to an element the instructions of its bin.
// Source     Gómez-Luna et al. (2013).
#include <bit>

#include "rooftile/ops/histogram/rungs/histogram_device.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {
namespace {

constexpr int kThreads = histogram_plan::kColumnBlock;

// copies = 1 << log2_copies. Behind the bins there is a counter of what is in none, so that no element is a branch.
template <class T>
__global__ void __launch_bounds__(kThreads, histogram_plan::kColumnBlocks)
    lane_columns_kernel(Elements<T> elements, Totals<std::uint32_t> totals, int log2_copies) {
  constexpr int kVectors = histogram_plan::column_vectors(sizeof(T));
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_counts = reinterpret_cast<std::uint32_t*>(s_memory);
  const int bins = totals.bins;
  const int copies = 1 << log2_copies;
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < (bins + 1) * copies; i += kThreads) s_counts[i] = 0;
  __syncthreads();  // zeros

  std::uint32_t* s_own = s_counts + (lane_index() & (copies - 1));
  const auto beyond = static_cast<unsigned>(bins);
  elements.template for_bins<kThreads, kVectors>(blockIdx.x, gridDim.x, [&](int bin) {
    const unsigned b = static_cast<unsigned>(bin) < beyond ? static_cast<unsigned>(bin) : beyond;
    atomicAdd(&s_own[b << log2_copies], 1u);
  });
  __syncthreads();  // the part is counted
  for (int b = thread; b < bins; b += kThreads) {
    std::uint32_t sum = 0;
    // Neighbours begin at other copies: at one time they read other banks.
    for (int c = 0; c < copies; ++c) sum += s_counts[(b << log2_copies) + ((c + b) & (copies - 1))];
    totals.add(b, sum);
  }
  totals.template finish<kThreads>(0, gridDim.x, 0, bins);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return dispatch_elements<AllElements>(call.args, [&]<class T>() {
    const auto& cut = call.config<histogram_plan::Cut>();
    return launch(lane_columns_kernel<T>,
                  {.grid = dim3(static_cast<unsigned>(cut.parts)),
                   .block = dim3(kThreads),
                   .shared_bytes = static_cast<std::size_t>(cut.range_bins + 1) *
                                   static_cast<std::size_t>(cut.copies) * sizeof(std::uint32_t),
                   .stream = call.stream},
                  elements_of<T>(call.args), Totals<std::uint32_t>::of(call),
                  std::countr_zero(static_cast<unsigned>(cut.copies)));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
