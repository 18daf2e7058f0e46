// Any length.
//
// Idea       blocks scan 2048 elements each and leave their totals; the totals are scanned in the same way, and what is in
//            front of each block is added to it.
// Change     three launches per factor of 2048.
// Limits     one row; sums of f32, i32 and u32.
// Bottleneck traffic: the results are written, read and written again.
// Source     GPU Gems 3, ch. 39.
#include "rooftile/core/integers.h"
#include "rooftile/ops/scan/rungs/recursion.h"
#include "rooftile/ops/scan/rungs/tree_rows.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Scan>(const Scan& scan) {
    using Acc = typename Scan::Acc;
    const auto blocks = [&](const Scan& of, const Acc* g_in, Acc* g_out, std::int64_t n, bool exclusive,
                            Acc initial, Acc* g_totals) {
      return launch(tree_rows_kernel<WithGaps, Scan>,
                    {.grid = dim3(static_cast<unsigned>(ceil_div(n, scan_plan::kTreeElements))),
                     .block = dim3(scan_plan::kTreeThreads),
                     .stream = call.stream},
                    g_in, g_out, n, scan_plan::kTreeElements, of, exclusive, initial, g_totals);
    };
    return scan_by_passes(scan, call.stream, static_cast<const Acc*>(call.args.in.data),
                          static_cast<Acc*>(call.args.out.data), call.args.in.numel(),
                          scan_plan::kTreeElements, call.args.exclusive, scan.initial(call.args),
                          static_cast<Acc*>(call.workspace.data), blocks);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
