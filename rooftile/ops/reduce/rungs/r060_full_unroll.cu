// The block size is known.
//
// Idea       with a block size known at compile time the tree needs neither loop counter nor branch.
// Change     `#pragma unroll` over constant strides in place of a loop.
// Limits     sum and max of f32.
// Bottleneck as before: instructions were not what it waits for.
// Source     Harris 2007, kernel 6.
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;
static_assert((kBlock & (kBlock - 1)) == 0, "the tree halves the block in every step");

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    full_unroll_kernel(const float* __restrict__ g_in, std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const Reduction reduction;

  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock * 2 + thread;
  const float near = i < n ? g_in[i] : reduction.identity();
  const float far = i + kBlock < n ? g_in[i + kBlock] : reduction.identity();
  s_values[thread] = reduction.combine(near, far);
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
    return launch_passes(full_unroll_kernel<Reduction>, call.stream, call.args, call.workspace, 2);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
