// Registers talk to registers.
//
// Idea       a warp reduces its 32 values by shuffles; shared memory carries one value per warp.
// Change     5 shuffles and one barrier in place of 8 steps through shared memory.
// Limits     sum and max of f32; two launches.
// Bottleneck one 4-byte load in flight per thread: latency, whatever the tree costs.
// Source     Luitjens, "Faster Parallel Reductions on Kepler" (2014).
#include "rooftile/device/block.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    warp_shuffle_kernel(const float* __restrict__ g_in, std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_warp_values[kBlock / kWarpSize];
  const Reduction reduction;
  const std::int64_t stride_of_grid = static_cast<std::int64_t>(gridDim.x) * kBlock;
  float mine = reduction.identity();
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + threadIdx.x; i < n;
       i += stride_of_grid) {
    mine = reduction.combine(mine, g_in[i]);
  }
  const auto combine = [&](float a, float b) { return reduction.combine(a, b); };
  const float total = block_reduce<kBlock>(mine, reduction.identity(), s_warp_values, combine);
  if (threadIdx.x == 0) g_out[blockIdx.x] = total;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Reduction>(Reduction) {
    return launch_passes(warp_shuffle_kernel<Reduction>, call.stream, call.args, call.workspace,
                         reduce_plan::kPassItems, reduce_plan::lesson_grid(call.device));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
