// Enough bytes in flight.
//
// Idea       16-byte loads, eight of them independent per thread before the first addition, by a grid that
//            fills every SM once and strides over the input.
// Change     128 bytes requested per thread, against 4.
// Limits     sum and max of f32; two launches. A head in front of a 16-byte boundary and a tail behind the
//            last are read one by one.
// Bottleneck DRAM for large inputs; the second launch for small ones.
// Source     Little's law: 4.8 TB/s * ~0.8 us of latency = 3.8 MB, or 29 KB per SM, must be on the way.
#include "rooftile/ops/reduce/reduce_rows.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kGridBlock;

template <class Reduction>
__global__ void __launch_bounds__(kBlock, reduce_plan::kResidentBlocks)
    vectorized_kernel(const float* __restrict__ g_in, std::int64_t n, int loads,
                      float* __restrict__ g_partials) {
  __shared__ WarpSlots<Reduction> s_warp_values;
  const Reduction reduction;
  const auto combine = [&](float a, float b) { return reduction.combine(a, b); };
  const float mine = thread_partial<LoadPolicy::cached>(reduction, g_in, n, blockIdx.x, gridDim.x, loads);
  const float total = block_reduce<kBlock>(mine, reduction.identity(), s_warp_values, combine);
  if (threadIdx.x == 0) g_partials[blockIdx.x] = total;
}

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    combine_partials_kernel(const float* __restrict__ g_partials, std::int64_t count,
                            float* __restrict__ g_out) {
  __shared__ WarpSlots<Reduction> s_warp_values;
  const float total = combine_partials(Reduction{}, g_partials, count, s_warp_values);
  if (threadIdx.x == 0) *g_out = total;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Reduction>(Reduction) -> Status {
    const std::int64_t n = call.args.in.numel();
    const reduce_plan::RowSplit split =
        reduce_plan::split_row(1, n * static_cast<std::int64_t>(sizeof(float)), call.device);
    auto* g_partials = static_cast<float*>(call.workspace.data);
    ROOFTILE_TRY(launch(
        vectorized_kernel<Reduction>,
        {.grid = dim3(static_cast<unsigned>(split.parts)), .block = dim3(kBlock), .stream = call.stream},
        static_cast<const float*>(call.args.in.data), n, split.loads, g_partials));
    return launch(combine_partials_kernel<Reduction>,
                  {.grid = dim3(1), .block = dim3(kBlock), .stream = call.stream}, g_partials, split.parts,
                  static_cast<float*>(call.args.out.data));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
