// access_prefetch: a few threads walk over many elements: fetch the next ones before they are needed.
//
// Shapes     x: any shape, row-major; y: the same shape. y[i] is x[i] after 8 times v = fma(v, 1/2, 1/4).
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (NVIDIA, 2022).
// Empty      nothing to do.
// Determinism  run-to-run.
// Capture    the functions may be called while a stream is captured.
#pragma once

#include "rooftile/core/context.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

struct AccessPrefetchArgs {
  ConstTensorView x;
  TensorView y;
};

// Enqueues on the Context's stream, with the Context's workspace.
[[nodiscard]] Status access_prefetch(Context& context, const AccessPrefetchArgs& args);

// The same with the caller's workspace: no allocation, no synchronisation.
[[nodiscard]] Result<WorkspaceSpec> access_prefetch_workspace(const AccessPrefetchArgs& args, Device device);
[[nodiscard]] Status access_prefetch(StreamRef stream, const AccessPrefetchArgs& args,
                                     const Workspace& workspace);

const OperatorDescriptor& access_prefetch_operator();

}  // namespace rooftile
