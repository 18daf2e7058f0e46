// The same by shuffles.
//
// Idea       a warp scans 32 values register to register in five steps; shared memory carries one value per warp.
// Change     the block's scan: two barriers in place of 23. Blocks of 1024 elements.
// Limits     as recursive.
// Bottleneck traffic, as recursive.
// Source     Kogge and Stone (1973); GPU Gems 3, ch. 39.
#include "rooftile/core/integers.h"
#include "rooftile/device/block.h"
#include "rooftile/ops/scan/rungs/recursion.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {
namespace {

constexpr int kBlock = scan_plan::kShuffleElements;

// Block b scans elements b * kBlock ... of n; its total, without `initial`, goes to g_totals[b] where there is one.
template <class Scan>
__global__ void __launch_bounds__(kBlock)
    shuffle_blocks_kernel(const typename Scan::In* g_in, typename Scan::Out* g_out, std::int64_t n, Scan scan,
                          bool exclusive, typename Scan::Acc initial, typename Scan::Acc* g_totals) {
  using Acc = typename Scan::Acc;
  __shared__ Acc s_warp_values[kBlock / kWarpSize];
  const auto combine = [&](const Acc& a, const Acc& b) { return scan.combine(a, b); };
  const std::int64_t i = grid_thread();
  const Acc own = i < n ? scan.take(g_in[i]) : scan.identity();
  const Scanned<Acc> in_front = block_exclusive_scan<kBlock>(own, scan.identity(), s_warp_values, combine);
  const Acc sum = combine(initial, in_front.value);
  if (i < n) g_out[i] = scan.give(exclusive ? sum : combine(sum, own));
  if (threadIdx.x == 0 && g_totals != nullptr) g_totals[blockIdx.x] = in_front.total;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Scan>(const Scan& scan) {
    using Acc = typename Scan::Acc;
    const auto blocks = [&](const Scan& of, const Acc* g_in, Acc* g_out, std::int64_t n, bool exclusive,
                            Acc initial, Acc* g_totals) {
      return launch(shuffle_blocks_kernel<Scan>,
                    {.grid = dim3(static_cast<unsigned>(ceil_div(n, kBlock))),
                     .block = dim3(kBlock),
                     .stream = call.stream},
                    g_in, g_out, n, of, exclusive, initial, g_totals);
    };
    return scan_by_passes(scan, call.stream, static_cast<const Acc*>(call.args.in.data),
                          static_cast<Acc*>(call.args.out.data), call.args.in.numel(), kBlock,
                          call.args.exclusive, scan.initial(call.args),
                          static_cast<Acc*>(call.workspace.data), blocks);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
