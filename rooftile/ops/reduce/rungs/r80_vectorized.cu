// Rung 80, vectorized: enough bytes in flight.
//
// Idea       16-byte loads, eight of them independent per thread before the first addition, by a grid that fills
//            every SM once and strides over the input.
// Change     128 bytes requested per thread, against 4; two launches in place of one per factor of 256.
// Limits     f32, i32; a head in front of a 16-byte boundary and a tail behind the last are read one by one.
// Bottleneck DRAM for large inputs; the second launch for small ones.
// Source     Little's law: 4.8 TB/s * ~0.8 us of latency = 3.8 MB, or 29 KB per SM, must be on the way.
#include "rooftile/ops/reduce/rungs/grid_partial.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kGridBlock;

template <class Reduction>
__global__ void __launch_bounds__(kBlock, reduce_plan::kResidentBlocks)
    vectorized_kernel(const typename Reduction::In* __restrict__ g_in, std::int64_t n,
                      typename Reduction::Acc* __restrict__ g_partials) {
  __shared__ typename Reduction::Acc s_warp_values[kBlock / kWarpSize];
  const auto total = block_reduce<kBlock>(thread_partial<Reduction>(g_in, n), Reduction::identity(), s_warp_values,
                                          Reduction{});
  if (threadIdx.x == 0) g_partials[blockIdx.x] = total;
}

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    combine_partials_kernel(const typename Reduction::Acc* __restrict__ g_partials, int count,
                            typename Reduction::Acc* __restrict__ g_out) {
  __shared__ typename Reduction::Acc s_warp_values[kBlock / kWarpSize];
  const auto total = combine_partials<Reduction>(g_partials, count, s_warp_values);
  if (threadIdx.x == 0) *g_out = total;
}

}  // namespace

Status vectorized(StreamRef stream, const DeviceProperties& device, const ReduceArgs& args,
                  const Workspace& workspace) {
  return dispatch_all(args, [&]<class Reduction>() -> Status {
    using In = typename Reduction::In;
    using Acc = typename Reduction::Acc;
    const std::int64_t n = args.in.numel();
    const auto blocks = static_cast<int>(reduce_plan::grid_blocks(n * static_cast<std::int64_t>(sizeof(In)), device));
    auto* g_partials = static_cast<Acc*>(workspace.data);
    ROOFTILE_TRY(launch(vectorized_kernel<Reduction>,
                        {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = stream},
                        static_cast<const In*>(args.in.data), n, g_partials));
    return launch(combine_partials_kernel<Reduction>, {.grid = dim3(1), .block = dim3(kBlock), .stream = stream},
                  g_partials, blocks, static_cast<Acc*>(args.out.data));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
