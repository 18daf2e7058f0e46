// access_tile: a matrix is copied: which shape of a thread block covers it best.
//
// Shapes     x: [m, n], row-major; y: the same.
// Dtypes     f32 -> f32: bits are copied.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// Size       64-bit index arithmetic.
// Source     CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".
// Empty      nothing to do.
// Determinism  run-to-run.
// Capture    the functions may be called while a stream is captured.
#pragma once

#include "rooftile/core/context.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

struct AccessTileArgs {
  ConstTensorView x;
  TensorView y;
};

// Enqueues on the Context's stream, with the Context's workspace.
[[nodiscard]] Status access_tile(Context& context, const AccessTileArgs& args);

// The same with the caller's workspace: no allocation, no synchronisation.
[[nodiscard]] Result<WorkspaceSpec> access_tile_workspace(const AccessTileArgs& args, Device device);
[[nodiscard]] Status access_tile(StreamRef stream, const AccessTileArgs& args, const Workspace& workspace);

const OperatorDescriptor& access_tile_operator();

}  // namespace rooftile
