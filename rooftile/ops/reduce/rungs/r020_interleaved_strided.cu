// The first threads do the work.
//
// Idea       the same pairs as before, but taken by threads 0, 1, 2 ...: the active threads fill whole warps.
// Change     the pair's place is computed from the thread, `2 * stride * thread`, in place of testing the
//            thread.
// Limits     sum and max of f32; one element per thread.
// Bottleneck neighbouring lanes are 2 * stride words apart: bank conflicts, 2-way in the first step up to
//            16-way.
// Source     Harris 2007, kernel 2.
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;
static_assert((kBlock & (kBlock - 1)) == 0, "the tree halves the block in every step");

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    interleaved_strided_kernel(const float* __restrict__ g_in, std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const Reduction reduction;

  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + thread;
  s_values[thread] = i < n ? g_in[i] : reduction.identity();
  __syncthreads();
  for (int stride = 1; stride < kBlock; stride *= 2) {
    const int at = 2 * stride * thread;
    if (at < kBlock) s_values[at] = reduction.combine(s_values[at], s_values[at + stride]);
    __syncthreads();  // a step's values before the next step reads them
  }
  if (thread == 0) g_out[blockIdx.x] = s_values[0];
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Reduction>(Reduction) {
    return launch_passes(interleaved_strided_kernel<Reduction>, call.stream, call.args, call.workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
