// Scans with an operation of one's own: for kernel sources (.cu), compiled by nvcc or for the simulated SM.
//
// An operation is a trivially copyable type:
//
//   struct LogSumExp {                       // a running log(sum(exp(x)))
//     using In = float;                      // element types of 1, 2, 4 or 8 bytes; Out as wide as In
//     using Out = float;
//     using Acc = float2;                    // trivially copyable: a maximum, and the sum of exp(x - maximum)
//     __device__ Acc identity() const { return {-INFINITY, 0.0f}; }           // of either side
//     __device__ Acc take(In x) const { return {x, 1.0f}; }
//     __device__ Acc combine(Acc a, Acc b) const { ... }                       // associative; need not be commutative
//     __device__ Out give(Acc a) const { return a.x + logf(a.y); }
//   };
//   scan_with(LogSumExp{}, stream, in, out, {.rows = 1, .length = n}, workspace);
//
// Elements are combined in their order, in a tree that follows from the length and from where `in` lies to a 16-byte
// boundary: the same bits on every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/workspace.h"
#include "rooftile/device/target.h"
#include "rooftile/ops/scan/scan_plan.h"
#include "rooftile/ops/scan/scan_tiles.h"

namespace rooftile::ROOFTILE_TARGET {

// Rows of `length` elements, one behind the other, each by itself.
struct ScanRows {
  std::int64_t rows = 1;
  std::int64_t length = 0;
  bool exclusive = false;
};

// The workspace of scan_with.
template <class Scan>
[[nodiscard]] WorkspaceSpec scan_with_workspace(const ScanRows& rows) {
  const scan_plan::Cut cut =
      scan_plan::cut_rows({rows.rows, rows.length}, sizeof(typename Scan::In), scan_plan::kLargeVectors);
  return scan_plan::node_workspace(cut.rows.count * cut.tree.nodes, sizeof(typename Scan::Acc));
}

// One launch, no allocation, no synchronisation. g_in and g_out are aligned to their elements, and either the same or apart.
template <class Scan>
[[nodiscard]] Status scan_with(const Scan& scan, StreamRef stream, const typename Scan::In* g_in,
                               typename Scan::Out* g_out, const ScanRows& rows, const Workspace& workspace,
                               std::optional<typename Scan::Acc> initial = std::nullopt) {
  static_assert(std::is_trivially_copyable_v<typename Scan::Acc>, "accumulators are exchanged as bytes");
  if (rows.rows < 0 || rows.length < 0) return invalid_argument("scan_with: rows or length is negative");
  if (!workspace.covers(scan_with_workspace<Scan>(rows)))
    return invalid_argument("scan_with: the workspace is smaller than scan_with_workspace() asks for");
  const scan_plan::Cut cut =
      scan_plan::cut_rows({rows.rows, rows.length}, sizeof(typename Scan::In), scan_plan::kLargeVectors);
  if (rows.rows == 0 || rows.length == 0) return {};
  return scan_rungs::launch_scan_tiles<scan_plan::kLargeVectors, scan_rungs::TreeFinder>(
      scan, stream, cut, g_in, g_out, rows.exclusive,
      initial ? scan_rungs::Initial<typename Scan::Acc>{*initial, true}
              : scan_rungs::Initial<typename Scan::Acc>{},
      workspace);
}

}  // namespace rooftile::ROOFTILE_TARGET
