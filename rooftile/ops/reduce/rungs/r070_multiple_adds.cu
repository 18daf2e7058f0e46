// Work before the tree.
//
// Idea       a resident grid strides over the input; a thread adds all its elements in a register and enters
//            the tree once.
// Change     a loop over the grid's stride in place of two elements; the cost of the tree is spread over it.
// Limits     sum and max of f32; two launches.
// Bottleneck one 4-byte load in flight per thread: latency, not bandwidth.
// Source     Harris 2007, kernel 7 (there with the occupancy of 2007; here 8 blocks of 256 fill an SM).
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;
static_assert((kBlock & (kBlock - 1)) == 0, "the tree halves the block in every step");

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    multiple_adds_kernel(const float* __restrict__ g_in, std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const Reduction reduction;

  const std::int64_t stride_of_grid = static_cast<std::int64_t>(gridDim.x) * kBlock;
  float mine = reduction.identity();
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + thread; i < n; i += stride_of_grid) {
    mine = reduction.combine(mine, g_in[i]);
  }
  s_values[thread] = mine;
  __syncthreads();
#pragma unroll
  for (int stride = kBlock / 2; stride > 32; stride /= 2) {
    if (thread < stride) s_values[thread] = reduction.combine(s_values[thread], s_values[thread + stride]);
    __syncthreads();  // a step's values before the next step reads them
  }
  if (thread < 32) reduce_last_warp(reduction, s_values, thread);
  if (thread == 0) g_out[blockIdx.x] = s_values[0];
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Reduction>(Reduction) {
    return launch_passes(multiple_adds_kernel<Reduction>, call.stream, call.args, call.workspace,
                         reduce_plan::kPassItems, reduce_plan::lesson_grid(call.device));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
