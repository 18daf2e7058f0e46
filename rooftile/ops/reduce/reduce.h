// reduce: all elements of a tensor to one value.
//
// Shapes     in: any shape, row-major without gaps; out: exactly one element of any rank.
// Dtypes     sum: f32 -> f32 (accumulated in fp32), i32 -> i64 (never overflows below 2^32 elements).
//            max: f32 -> f32, i32 -> i32.
// Alignment  any pointer aligned to its element: the vector loads peel what is in front of a 16-byte boundary.
// Aliasing   out must not overlap in.
// Empty      sum of nothing is 0; max of nothing is an error (there is no identity to return).
// NaN, +-0   sum follows IEEE 754; max returns NaN when any element is NaN, and either zero for +0 against -0.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      sum f32: at most the rounding of serial chains of 1024 additions under a pairwise tree (tests: see
//            reduce_ref.cpp); integers and max are exact.
// Determinism  run-to-run on one device: no floating-point atomics. Rungs may differ in the last bits.
// Capture    both functions may be called while a stream is captured if the caller brings the workspace.
// Source     Harris, "Optimizing Parallel Reduction in CUDA" (2007); Luitjens, "Faster Parallel Reductions on
//            Kepler" (2014); the CUDA sample threadFenceReduction for the last-block finish.
#pragma once

#include "rooftile/core/context.h"
#include "rooftile/core/operator.h"
#include "rooftile/core/view.h"
#include "rooftile/core/workspace.h"

namespace rooftile {

enum class ReduceOp { sum, max };

struct ReduceArgs {
  ConstTensorView in;
  TensorView out;  // one element
  ReduceOp op = ReduceOp::sum;
};

// Enqueues on the Context's stream, with the Context's workspace.
[[nodiscard]] Status reduce(Context& context, const ReduceArgs& args);

// The same with the caller's workspace: no allocation, no synchronisation.
[[nodiscard]] Result<WorkspaceSpec> reduce_workspace(const ReduceArgs& args, Device device);
[[nodiscard]] Status reduce(StreamRef stream, const ReduceArgs& args, const Workspace& workspace);

// The element type of the result.
[[nodiscard]] DType reduce_out_dtype(ReduceOp op, DType in);

const OperatorDescriptor& reduce_operator();

}  // namespace rooftile
