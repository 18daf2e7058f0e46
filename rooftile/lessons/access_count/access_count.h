// access_count: all threads add to one number: the race, and what its cures cost.
//
// Shapes     x: any shape, row-major; y: one element: the sum of x, in wrapping arithmetic of 32 bits.
// Dtypes     i32 -> i32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// Size       64-bit index arithmetic.
// Source     256 threads that add 3 to one number: 3 in place of 768.
// Empty      the sum is 0.
// Determinism  run-to-run.
// Capture    the functions may be called while a stream is captured.
#pragma once

#include "rooftile/core/context.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

struct AccessCountArgs {
  ConstTensorView x;
  TensorView y;
};

// Enqueues on the Context's stream, with the Context's workspace.
[[nodiscard]] Status access_count(Context& context, const AccessCountArgs& args);

// The same with the caller's workspace: no allocation, no synchronisation.
[[nodiscard]] Result<WorkspaceSpec> access_count_workspace(const AccessCountArgs& args, Device device);
[[nodiscard]] Status access_count(StreamRef stream, const AccessCountArgs& args, const Workspace& workspace);

const OperatorDescriptor& access_count_operator();

}  // namespace rooftile
