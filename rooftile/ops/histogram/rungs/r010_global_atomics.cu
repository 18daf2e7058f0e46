// One counter for all.
//
// Idea       every thread takes an element at a time and adds one to its bin's counter in global memory.
// Limits     f32, u32 and u8; no weights.
// Bottleneck the units in L2 that add: elements of one bin go to one of them, one after the other.
#include "rooftile/device/grid_stride.h"
#include "rooftile/ops/histogram/rungs/histogram_device.h"

namespace rooftile::ROOFTILE_TARGET::histogram_rungs {
namespace {

constexpr int kThreads = histogram_plan::kBlock;

template <class T>
__global__ void __launch_bounds__(kThreads)
    global_atomics_kernel(Elements<T> elements, Totals<std::uint32_t> totals) {
  for (const std::int64_t i : grid_stride(elements.n)) {
    const int bin = elements.bin_of(elements.g_in[i]);
    if (bin != kNoBin) totals.add(bin, 1);
  }
  totals.template finish<kThreads>(0, gridDim.x, 0, totals.bins);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<HistogramArgs>& call) {
  return dispatch_elements<LessonElements>(call.args, [&]<class T>() {
    const auto& cut = call.config<histogram_plan::Cut>();
    return launch(
        global_atomics_kernel<T>,
        {.grid = dim3(static_cast<unsigned>(cut.parts)), .block = dim3(kThreads), .stream = call.stream},
        elements_of<T>(call.args), Totals<std::uint32_t>::of(call));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::histogram_rungs
