// Wide sums, and one atomic per block.
//
// Idea       accumulate in 32 bits (f64 in 64), meet in the block, and let one thread of it add to the result.
// Change     256 times fewer atomics, and a result that can be believed.
// Limits     vectors without gaps. The order of the atomics is not fixed: neither are the last bits.
// Bottleneck loads of one element per lane: too few bytes in flight.
#include "rooftile/device/block.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/ops/dot/rungs/dot_device.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

// Zeros before and afterwards.
template <class Acc>
struct Sums {
  Acc sum;
  std::uint32_t ticket;
};

template <class In, class Acc>
__global__ void __launch_bounds__(dot_plan::kLessonBlock)
    block_reduce_atomics_kernel(const In* __restrict__ g_a, const In* __restrict__ g_b, std::int64_t n,
                                Sums<Acc>* g_sums, RealOutput out) {
  __shared__ Acc s_warp_values[dot_plan::kLessonBlock / kWarpSize];
  Acc sum{};
  for (const std::int64_t i : grid_stride(n)) sum = add_product(sum, g_a[i], g_b[i]);
  sum = block_reduce<dot_plan::kLessonBlock>(sum, Acc{}, s_warp_values, Add{});
  if (threadIdx.x != 0) return;
  atomicAdd(&g_sums->sum, sum);
  if (!is_last_of_grid(&g_sums->ticket)) return;
  out.store(0, g_sums->sum);
  g_sums->sum = Acc{};
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  return dispatch_products(call.args, [&]<class In, class Acc>() {
    static_assert(sizeof(Sums<Acc>) <= dot_plan::kLessonSums);
    return launch_lesson(call, block_reduce_atomics_kernel<In, Acc>, static_cast<const In*>(call.args.a.data),
                         static_cast<const In*>(call.args.b.data), call.args.a.numel(),
                         static_cast<Sums<Acc>*>(call.workspace.zeroed), output_of(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
