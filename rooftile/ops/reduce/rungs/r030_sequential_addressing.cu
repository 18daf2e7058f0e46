// Neighbours read neighbours.
//
// Idea       in step s the first s threads add the element at distance s: lanes of a warp touch neighbouring
//            words, so no two meet in a bank.
// Change     the stride halves in place of doubling.
// Limits     sum and max of f32; one element per thread.
// Bottleneck half of the threads are idle after the load, and a barrier ends each of the 8 steps.
// Source     Harris 2007, kernel 3.
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;
static_assert((kBlock & (kBlock - 1)) == 0, "the tree halves the block in every step");

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    sequential_addressing_kernel(const float* __restrict__ g_in, std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const Reduction reduction;

  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + thread;
  s_values[thread] = i < n ? g_in[i] : reduction.identity();
  __syncthreads();
  for (int stride = kBlock / 2; stride > 0; stride /= 2) {
    if (thread < stride) s_values[thread] = reduction.combine(s_values[thread], s_values[thread + stride]);
    __syncthreads();  // a step's values before the next step reads them
  }
  if (thread == 0) g_out[blockIdx.x] = s_values[0];
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Reduction>(Reduction) {
    return launch_passes(sequential_addressing_kernel<Reduction>, call.stream, call.args, call.workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
