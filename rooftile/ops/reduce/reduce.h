// reduce: the elements of a tensor, or of one of its axes, to one value each.
//
// Shapes     in: any shape and strides. axis unset: all elements, out holds one element of any rank. axis k:
//            out has in's shape without axis k, row-major.
// Dtypes     in: f64 f32 f16 bf16, i8 i16 i32 i64, u8 u16 u32 u64.
//            sum: floats to any of f64 f32 f16 bf16 (accumulated in fp32, f64 in f64); signed integers to
//            i64, unsigned to u64 (modulo 2^64).
//            mean: floats as sum; integers to f64 or f32 (summed exactly modulo 2^64, then divided).
//            min, max: in's dtype.
//            argmin, argmax: i64, the index along the axis (of the flattened tensor where axis is unset).
// Alignment  any pointer aligned to its element: the vector loads peel what is in front of a 16-byte
//            boundary.
// Aliasing   out must not overlap in.
// Empty      sum of nothing is 0; the others have no value for nothing and report an error. No outputs: a
//            no-op.
// Ties       argmin and argmax return the first index among equals.
// NaN, +-0   sum and mean follow IEEE 754. min and max return NaN when any element is NaN, argmin and argmax
//            the first NaN. +0 and -0 are equal: min and max return either, argmin and argmax the first.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      float sums: at most the rounding of serial chains of 1024 additions under a pairwise tree
//            (tests: see reduce_ref.cpp), and one rounding to out's dtype; integers, minima and maxima are
//            exact.
// Determinism  run-to-run on one device: no floating-point atomics. Rungs may differ in the last bits.
// Capture    both functions may be called while a stream is captured if the caller brings the workspace.
// Source     Harris, "Optimizing Parallel Reduction in CUDA" (2007); Luitjens, "Faster Parallel Reductions on
//            Kepler" (2014); the CUDA sample threadFenceReduction for the last-block finish.
//
// A reduction with an operation of one's own: reduce_functor.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

enum class ReduceOp { sum, mean, min, max, argmin, argmax };
template <>
inline constexpr std::array kEnumNames<ReduceOp> =
    std::to_array<std::string_view>({"sum", "mean", "min", "max", "argmin", "argmax"});

struct ReduceArgs {
  ConstTensorView in;
  TensorView out;
  ReduceOp op = ReduceOp::sum;
  std::optional<int> axis = std::nullopt;  // negative: from the last; unset: all elements
};

// Enqueues on the Context's stream, with the Context's workspace.
[[nodiscard]] Status reduce(Context& context, const ReduceArgs& args);

// The same with the caller's workspace: no allocation, no synchronisation.
[[nodiscard]] Result<WorkspaceSpec> reduce_workspace(const ReduceArgs& args, Device device);
[[nodiscard]] Status reduce(StreamRef stream, const ReduceArgs& args, const Workspace& workspace);

// The element type of the result where the caller does not choose one.
[[nodiscard]] DType reduce_out_dtype(ReduceOp op, DType in);

const OperatorDescriptor& reduce_operator();

}  // namespace rooftile
