// Rung 90, single_pass: the last block finishes.
//
// Idea       every block writes its partial result and takes a ticket; the block with the last ticket combines the
//            partial results, always in the same order.
// Change     a ticket and two fences in place of the second launch.
// Limits     f32, i32; one run at a time per workspace (the ticket counter is part of it).
// Bottleneck DRAM for large inputs; one launch and one round trip for small ones.
// Source     CUDA sample threadFenceReduction.
#include "rooftile/device/last_block.h"
#include "rooftile/ops/reduce/rungs/grid_partial.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kGridBlock;

template <class Reduction>
__global__ void __launch_bounds__(kBlock, reduce_plan::kResidentBlocks)
    single_pass_kernel(const typename Reduction::In* __restrict__ g_in, std::int64_t n,
                       typename Reduction::Acc* g_partials, std::uint32_t* g_counter,
                       typename Reduction::Acc* __restrict__ g_out) {
  __shared__ typename Reduction::Acc s_warp_values[kBlock / kWarpSize];
  auto total = block_reduce<kBlock>(thread_partial<Reduction>(g_in, n), Reduction::identity(), s_warp_values,
                                    Reduction{});
  if (threadIdx.x == 0) g_partials[blockIdx.x] = total;
  if (!is_last_block(g_counter, gridDim.x)) return;
  // is_last_block is a barrier: s_warp_values may be written again.
  total = combine_partials<Reduction>(g_partials, static_cast<int>(gridDim.x), s_warp_values);
  if (threadIdx.x == 0) *g_out = total;
}

}  // namespace

Status single_pass(StreamRef stream, const DeviceProperties& device, const ReduceArgs& args,
                   const Workspace& workspace) {
  return dispatch_all(args, [&]<class Reduction>() -> Status {
    using In = typename Reduction::In;
    using Acc = typename Reduction::Acc;
    const std::int64_t n = args.in.numel();
    const std::int64_t blocks = reduce_plan::grid_blocks(n * static_cast<std::int64_t>(sizeof(In)), device);
    return launch(single_pass_kernel<Reduction>,
                  {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = stream},
                  static_cast<const In*>(args.in.data), n, static_cast<Acc*>(workspace.data),
                  static_cast<std::uint32_t*>(workspace.zeroed), static_cast<Acc*>(args.out.data));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
