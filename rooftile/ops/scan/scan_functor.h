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
//   // and, where a vector of 16 bytes is cheaper at once:
//   //   __device__ Acc sum_of(const Vec<In, kVecElements<In>>& x) const;
//   //   __device__ Vec<Out, kVecElements<In>> results_of(const Vec<In, kVecElements<In>>& x, Acc in_front, bool exclusive) const;
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

namespace scan_rungs {
// As few tiles as that read the totals of all in front of them; more meet in a tree.
struct FunctorCut {
  scan_plan::Cut cut;
  bool is_flat;
  FunctorCut(const ScanRows& rows, std::size_t element)
      : cut(scan_plan::cut_rows({rows.rows, rows.length}, element,
                                scan_plan::tile_bytes(scan_plan::flat_vectors(element)))),
        is_flat(cut.rows.count * cut.tiles <= scan_plan::kFlatTiles) {
    if (is_flat) {
      cut.tree = {.nodes = cut.tiles};
    } else {
      cut = scan_plan::cut_rows({rows.rows, rows.length}, element);
    }
  }
};
}  // namespace scan_rungs

// The workspace of scan_with.
template <class Scan>
[[nodiscard]] WorkspaceSpec scan_with_workspace(const ScanRows& rows) {
  const scan_rungs::FunctorCut of(rows, sizeof(typename Scan::In));
  return scan_plan::node_workspace(of.cut.rows.count * of.cut.tree.nodes, sizeof(typename Scan::Acc));
}

// One launch, no allocation, no synchronisation. g_in and g_out are aligned to their elements, and either the same or apart.
template <class Scan>
[[nodiscard]] Status scan_with(const Scan& scan, StreamRef stream, const typename Scan::In* g_in,
                               typename Scan::Out* g_out, const ScanRows& rows, const Workspace& workspace,
                               std::optional<typename Scan::Acc> initial = std::nullopt) {
  using Acc = typename Scan::Acc;
  static_assert(std::is_trivially_copyable_v<Acc>, "accumulators are exchanged as bytes");
  if (rows.rows < 0 || rows.length < 0) return invalid_argument("scan_with: rows or length is negative");
  if (!workspace.covers(scan_with_workspace<Scan>(rows)))
    return invalid_argument("scan_with: the workspace is smaller than scan_with_workspace() asks for");
  if (rows.rows == 0 || rows.length == 0) return {};
  const scan_rungs::FunctorCut of(rows, sizeof(typename Scan::In));
  const auto in_front = initial ? scan_rungs::Initial<Acc>{*initial, true} : scan_rungs::Initial<Acc>{};
  return of.is_flat ? scan_rungs::launch_scan_tiles<scan_rungs::FlatFinder>(
                          scan, stream, of.cut, g_in, g_out, rows.exclusive, in_front, workspace)
                    : scan_rungs::launch_scan_tiles<scan_rungs::TreeFinder>(
                          scan, stream, of.cut, g_in, g_out, rows.exclusive, in_front, workspace);
}

}  // namespace rooftile::ROOFTILE_TARGET
