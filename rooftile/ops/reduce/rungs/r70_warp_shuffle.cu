// Rung 70, warp_shuffle: registers talk to registers.
//
// Idea       a warp reduces its 32 values by shuffles; shared memory carries one value per warp.
// Change     5 shuffles and one barrier in place of 8 steps through shared memory with a barrier each.
// Limits     f32; one element per thread.
// Bottleneck 4 bytes requested per thread: too few in flight to fill the memory system, whatever the tree costs.
// Source     Luitjens, "Faster Parallel Reductions on Kepler" (2014).
#include "rooftile/device/block.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    warp_shuffle_kernel(const typename Reduction::Acc* __restrict__ g_in, std::int64_t n,
                        typename Reduction::Acc* __restrict__ g_out) {
  __shared__ typename Reduction::Acc s_warp_values[kBlock / kWarpSize];
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + static_cast<int>(threadIdx.x);

  const auto mine = i < n ? g_in[i] : Reduction::identity();
  const auto total = block_reduce<kBlock>(mine, Reduction::identity(), s_warp_values, Reduction{});
  if (threadIdx.x == 0) g_out[blockIdx.x] = total;
}

}  // namespace

Status warp_shuffle(StreamRef stream, const DeviceProperties&, const ReduceArgs& args, const Workspace& workspace) {
  return dispatch_f32(args, [&]<class Reduction>() -> Status {
    return launch_passes(warp_shuffle_kernel<Reduction>, stream, args, workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
