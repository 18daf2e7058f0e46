// Reductions as types, and the kernel machinery that any of them can use: for kernel sources (.cu), compiled
// by nvcc or for the simulated SM.
//
// A reduction of one's own is a trivially copyable type:
//
//   struct LogSumOfSquares {
//     using In = float;                     // element type: 1, 2, 4 or 8 bytes
//     using Acc = float;                    // accumulator: trivially copyable, a multiple of 4 bytes
//     __device__ Acc identity() const { return 0.0f; }
//     __device__ Acc combine(Acc a, Acc b) const { return a + b; }         // associative and commutative
//     __device__ Acc take(Acc acc, In x, std::int64_t index) const { return acc + x * x; }
//     __device__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
//       static_cast<float*>(out.data)[i] = logf(acc);
//     }
//   };
//   reduce_with(LogSumOfSquares{}, stream, device, in, n, {.data = out}, workspace);
//
// The order in which elements meet is fixed by n and the device: the same bits on every run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rooftile/core/device.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"
#include "rooftile/core/workspace.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/reduce/reduce_output.h"
#include "rooftile/ops/reduce/reduce_plan.h"
#include "rooftile/ops/reduce/reduce_rows.h"

namespace rooftile::ROOFTILE_TARGET {

// The workspace of reduce_with.
inline WorkspaceSpec reduce_with_workspace(const DeviceProperties& device) {
  const auto blocks = static_cast<std::size_t>(device.multiprocessors) * reduce_plan::kResidentBlocks;
  return {.bytes = blocks * reduce_plan::kAccumulatorBytes, .zeroed_bytes = sizeof(std::uint32_t)};
}

// n contiguous elements by a reduction of one's own: one launch, no allocation, no
// synchronisation. `g_in` is aligned to its element; out.data does not overlap it.
template <class Reduction>
[[nodiscard]] Status reduce_with(const Reduction& reduction, StreamRef stream, const DeviceProperties& device,
                                 const typename Reduction::In* g_in, std::int64_t n, ReduceOutput out,
                                 const Workspace& workspace) {
  if (n < 0) return invalid_argument("reduce_with: n is negative");
  if (!workspace.covers(reduce_with_workspace(device))) {
    return invalid_argument("reduce_with: the workspace is smaller than reduce_with_workspace() asks for");
  }
  out.count = n;
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(*g_in));
  const reduce_plan::RowSplit split = reduce_plan::split_row(1, bytes, device);
  const reduce_plan::Cut cut{.shape = {.reduced = n}, .blocks = split.parts, .loads = split.loads};
  return reduce_rungs::launch_reduce_rows<LoadPolicy::no_allocate>(reduction, stream, cut, g_in, out,
                                                                   workspace);
}

}  // namespace rooftile::ROOFTILE_TARGET
