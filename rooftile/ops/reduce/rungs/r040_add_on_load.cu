// No thread only loads.
//
// Idea       every thread reads two elements and combines them on their way to shared memory.
// Change     half the blocks; the first step of the tree happens in registers.
// Limits     sum and max of f32; a pass per factor of 512.
// Bottleneck 8 bytes requested per thread, then 8 barriers.
// Source     Harris 2007, kernel 4.
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;
static_assert((kBlock & (kBlock - 1)) == 0, "the tree halves the block in every step");

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    add_on_load_kernel(const float* __restrict__ g_in, std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const Reduction reduction;

  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock * 2 + thread;
  const float near = i < n ? g_in[i] : reduction.identity();
  const float far = i + kBlock < n ? g_in[i + kBlock] : reduction.identity();
  s_values[thread] = reduction.combine(near, far);
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
    return launch_passes(add_on_load_kernel<Reduction>, call.stream, call.args, call.workspace, 2);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
