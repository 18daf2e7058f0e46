// The kernels and host functions of reduce: one declaration per rung.
#pragma once

#include "rooftile/core/rung.h"
#include "rooftile/ops/reduce/reduce.h"

ROOFTILE_RUNG(reduce, ReduceArgs, interleaved_divergent)
ROOFTILE_RUNG(reduce, ReduceArgs, sequential_addressing)
ROOFTILE_RUNG(reduce, ReduceArgs, warp_shuffle)
ROOFTILE_RUNG(reduce, ReduceArgs, vectorized)
ROOFTILE_RUNG(reduce, ReduceArgs, single_pass)

ROOFTILE_CPU_RUNG(reduce, ReduceArgs, serial)
ROOFTILE_CPU_RUNG(reduce, ReduceArgs, threaded)

namespace rooftile {

// Scratch of the rungs, known to the launchers and to the rows alike.
[[nodiscard]] WorkspaceSpec reduce_passes_workspace(const ReduceArgs& args, const DeviceProperties& device);
[[nodiscard]] WorkspaceSpec reduce_grid_workspace(const ReduceArgs& args, const DeviceProperties& device);
[[nodiscard]] WorkspaceSpec reduce_single_pass_workspace(const ReduceArgs& args, const DeviceProperties& device);

}  // namespace rooftile
