// The textbook dot product, in 16 bits.
//
// Idea       every thread sums up its products in the elements' own type and adds the sum to the result.
// Limits     f16 and bf16, without gaps, where 16 bits of accumulation are asked for.
// Bottleneck one atomic per thread on one address, each a loop of compare-and-swap; and the result: a sum of f16 that
//            has come to 2048 does not grow by adding ones.
#include "rooftile/device/grid_stride.h"
#include "rooftile/ops/dot/rungs/dot_device.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

// Zeros before and afterwards.
template <class T>
struct Sums {
  std::uint32_t ticket;
  T sum;
};

template <class T>
__global__ void half_atomics_kernel(const T* __restrict__ g_a, const T* __restrict__ g_b, std::int64_t n,
                                    Sums<T>* g_sums, RealOutput out) {
  T sum(0.0f);
  for (const std::int64_t i : grid_stride(n)) sum = __hfma(g_a[i], g_b[i], sum);
  atomicAdd(&g_sums->sum, sum);
  __syncthreads();  // the whole block has added before it takes its ticket
  if (threadIdx.x != 0 || !is_last_of_grid(&g_sums->ticket)) return;
  out.store(0, static_cast<float>(g_sums->sum));
  g_sums->sum = T(0.0f);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  return dispatch_lesson(call.args, [&]<class T>() {
    static_assert(sizeof(Sums<T>) <= dot_plan::kLessonSums);
    return launch_lesson(call, half_atomics_kernel<T>, static_cast<const T*>(call.args.a.data),
                         static_cast<const T*>(call.args.b.data), call.args.a.numel(),
                         static_cast<Sums<T>*>(call.workspace.zeroed), output_of(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
