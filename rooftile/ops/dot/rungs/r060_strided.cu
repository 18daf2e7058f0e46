// Vectors with gaps.
//
// Idea       addresses computed from the index serve any strides: a column of a matrix, a reversed vector, one element
//            again and again.
// Change     serves what single_pass does not, one element at a time.
// Limits     none.
// Bottleneck sectors: of 32 bytes that come, as few are used as the strides leave.
#include "rooftile/device/grid_reduce.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/ops/dot/rungs/dot_device.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

template <class In, class Acc>
__global__ void __launch_bounds__(dot_plan::kLessonBlock)
    strided_kernel(const In* __restrict__ g_a, const In* __restrict__ g_b, std::int64_t n,
                   std::int64_t a_stride, std::int64_t b_stride, Acc* g_partials, std::uint32_t* g_ticket,
                   RealOutput out) {
  __shared__ Acc s_warp_values[dot_plan::kLessonBlock / kWarpSize];
  Acc sum{};
#pragma unroll 4
  for (const std::int64_t i : grid_stride(n)) sum = add_product(sum, g_a[i * a_stride], g_b[i * b_stride]);
  if (grid_reduce<dot_plan::kLessonBlock>(sum, Acc{}, s_warp_values, g_partials, g_ticket, Add{}))
    out.store(0, sum);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  const DotArgs& args = call.args;
  return dispatch_products(args, [&]<class In, class Acc>() {
    return launch_lesson(call, strided_kernel<In, Acc>, static_cast<const In*>(args.a.data),
                         static_cast<const In*>(args.b.data), args.a.numel(), args.a.strides[0],
                         args.b.strides[0], static_cast<Acc*>(call.workspace.data),
                         static_cast<std::uint32_t*>(call.workspace.zeroed), output_of(args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
