// access_neighbors: what the 32 lanes of a warp of an 8 x 8 x 8 block of threads see of a volume.
//
// Shapes     x: [d, m, n], row-major; y: [d, m, n, 32]. A warp of such a block covers 4 rows of 8 columns, so
// that
//            y[z, i, j, l] = x[z, 4 * (i / 4) + l / 8, 8 * (j / 8) + l % 8], and 0 outside of x.
// Dtypes     f32 -> f32: bits are copied.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// Size       64-bit index arithmetic.
// Source     GPU MODE, lecture 4: a kernel that writes the coordinates of its warp's threads.
// Empty      nothing to do.
// Determinism  run-to-run.
// Capture    the functions may be called while a stream is captured.
#pragma once

#include "rooftile/core/context.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

struct AccessNeighborsArgs {
  ConstTensorView x;
  TensorView y;
};

// Enqueues on the Context's stream, with the Context's workspace.
[[nodiscard]] Status access_neighbors(Context& context, const AccessNeighborsArgs& args);

// The same with the caller's workspace: no allocation, no synchronisation.
[[nodiscard]] Result<WorkspaceSpec> access_neighbors_workspace(const AccessNeighborsArgs& args,
                                                               Device device);
[[nodiscard]] Status access_neighbors(StreamRef stream, const AccessNeighborsArgs& args,
                                      const Workspace& workspace);

const OperatorDescriptor& access_neighbors_operator();

}  // namespace rooftile
