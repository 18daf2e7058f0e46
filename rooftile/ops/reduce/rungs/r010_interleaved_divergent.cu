// The textbook tree.
//
// Idea       a tree in shared memory; in step s the threads whose index is a multiple of 2s add their
//            neighbour at distance s.
// Limits     sum and max of f32; one element per thread, so n/256 blocks and a pass per factor of 256.
// Bottleneck the modulo leaves 16, 8, 4 ... active lanes scattered over every warp: all 8 warps run all 8
//            steps.
// Source     Harris, "Optimizing Parallel Reduction in CUDA" (2007), kernel 1.
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kPassBlock;
static_assert((kBlock & (kBlock - 1)) == 0, "the tree halves the block in every step");

template <class Reduction>
__global__ void __launch_bounds__(kBlock)
    interleaved_divergent_kernel(const float* __restrict__ g_in, std::int64_t n, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const Reduction reduction;

  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kBlock + thread;
  s_values[thread] = i < n ? g_in[i] : reduction.identity();
  __syncthreads();
  for (int stride = 1; stride < kBlock; stride *= 2) {
    if (thread % (2 * stride) == 0) {
      s_values[thread] = reduction.combine(s_values[thread], s_values[thread + stride]);
    }
    __syncthreads();  // a step's values before the next step reads them
  }
  if (thread == 0) g_out[blockIdx.x] = s_values[0];
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Reduction>(Reduction) {
    return launch_passes(interleaved_divergent_kernel<Reduction>, call.stream, call.args, call.workspace);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
