// Scans of any length by passes: blocks, then the scan of their totals, then what is in front of each block added to it.
#pragma once

#include <type_traits>

#include "rooftile/core/integers.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/ops/scan/rungs/scan_device.h"

namespace rooftile::ROOFTILE_TARGET::scan_rungs {

// Element i has g_in_front[i / elements] in front of it.
template <class Scan>
__global__ void add_in_front_kernel(typename Scan::Out* g_out, std::int64_t n, int elements, Scan scan,
                                    const typename Scan::Acc* g_in_front) {
  for (const std::int64_t i : grid_stride(n))
    g_out[i] = scan.give(scan.combine(g_in_front[i / elements], scan.take(g_out[i])));
}

// `blocks(scan, in, out, n, exclusive, initial, totals)` launches the block scans of `elements` each; totals: memory for
// those of every level, one behind the other.
template <class Scan, class Blocks>
Status scan_by_passes(const Scan& scan, StreamRef stream, const typename Scan::In* g_in,
                      typename Scan::Out* g_out, std::int64_t n, int elements, bool exclusive,
                      typename Scan::Acc initial, typename Scan::Acc* g_totals, const Blocks& blocks) {
  const std::int64_t count = ceil_div(n, elements);
  if (count <= 1) return blocks(scan, g_in, g_out, n, exclusive, initial, nullptr);
  ROOFTILE_TRY(blocks(scan, g_in, g_out, n, exclusive, scan.identity(), g_totals));
  static_assert(std::is_same_v<typename Scan::In, typename Scan::Acc>,
                "sums of sums are sums: the same type on every level");
  ROOFTILE_TRY(scan_by_passes(scan, stream, g_totals, g_totals, count, elements, true, initial,
                              g_totals + count, blocks));
  constexpr int kThreads = 256;
  constexpr std::int64_t kMostBlocks = 4096;
  return launch(
      add_in_front_kernel<Scan>,
      {.grid = dim3(grid_blocks(n, kThreads, kMostBlocks)), .block = dim3(kThreads), .stream = stream}, g_out,
      n, elements, scan, g_totals);
}

}  // namespace rooftile::ROOFTILE_TARGET::scan_rungs
