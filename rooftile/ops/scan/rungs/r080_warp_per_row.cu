// Short rows.
//
// Idea       a warp walks along a row, 32 vectors of 16 bytes at a time, and carries the sum in a register.
// Change     no shared memory, no barrier, no waiting for other blocks.
// Limits     rows of at most 64 KiB: a longer one keeps too few threads busy.
// Bottleneck DRAM; for rows far below 512 bytes idle lanes.
#include "rooftile/core/integers.h"
#include "rooftile/ops/scan/rungs/scan_device.h"
#include "rooftile/ops/scan/scan_tiles.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {
namespace {

template <class Scan>
__global__ void __launch_bounds__(kTileThreads)
    warp_per_row_kernel(const typename Scan::In* g_in, typename Scan::Out* g_out, std::int64_t rows,
                        std::int64_t length, Scan scan, bool exclusive, typename Scan::Acc initial) {
  constexpr int kElements = kWarpSize * kVecElements<typename Scan::In>;
  const std::int64_t row = std::int64_t{blockIdx.x} * scan_plan::kTileWarps + warp_index();
  if (row >= rows) return;
  const auto place = RowPlace<Scan>::of(g_in, g_out, row, length);
  auto running = initial;
  for (std::int64_t first = -place.skew; first < length; first += kElements) {
    const auto step = [&](auto whole) {
      LaneVectors<whole, 1, Scan> vectors(scan, place, first);
      const auto total = vectors.fold();
      vectors.give(running, exclusive);
      running = scan.combine(running, total);
    };
    if (first >= 0 && first + kElements <= length) {
      step(std::true_type{});
    } else {
      step(std::false_type{});
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ScanArgs>& call) {
  return dispatch_scans(call.args, [&]<class Scan>(const Scan& scan) {
    const scan_plan::Rows rows = scan_plan::rows_of(call.args);
    return launch(warp_per_row_kernel<Scan>,
                  {.grid = dim3(static_cast<unsigned>(ceil_div(rows.count, scan_plan::kTileWarps))),
                   .block = dim3(kTileThreads),
                   .stream = call.stream},
                  static_cast<const typename Scan::In*>(call.args.in.data),
                  static_cast<typename Scan::Out*>(call.args.out.data), rows.count, rows.length, scan,
                  call.args.exclusive, scan.initial(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
