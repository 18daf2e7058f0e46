// reduce: the elements of a tensor, or of some of its axes, to one value each.
//
// Shapes     in: any shape and strides. out, row-major: in's shape without the axes that are reduced (keepdims: with
//            1 in their place); of an out that the caller brings extents of 1 do not count. No axes: all of them.
// Dtypes     in: f64 f32 f16 bf16, i8 i16 i32 i64, u8 u16 u32 u64.
//            sum: floats to any of f64 f32 f16 bf16 (accumulated in fp32, f64 in f64); signed integers to
//            i64, unsigned to u64 (modulo 2^64).
//            mean: floats as sum; integers to f64 or f32 (summed exactly modulo 2^64, then divided).
//            min, max: in's dtype.
//            argmin, argmax: i64, the index along the axis (of several: in row-major order of them).
//            The caller's out, or out_dtype, chooses; else the first that reduce_out_dtype names.
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
// Source     Harris, "Optimizing Parallel Reduction in CUDA" (2007); Luitjens, "Faster Parallel Reductions on
//            Kepler" (2014); the CUDA sample threadFenceReduction for the last-block finish.
//
// A reduction with an operation of one's own: reduce_functor.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/axes.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

enum class ReduceOp { sum, mean, min, max, argmin, argmax };
template <>
inline constexpr std::array<std::string_view, 6> kEnumNames<ReduceOp> = {"sum", "mean",   "min",
                                                                         "max", "argmin", "argmax"};

struct ReduceArgs {
  ConstTensorView in{};
  TensorView out{};
  ReduceOp op = ReduceOp::sum;
  Axes axes{};  // {-1}: the last; none: all elements
  bool keepdims = false;
  std::optional<DType> out_dtype = std::nullopt;  // of the result, where there is a choice

  friend bool operator==(const ReduceArgs&, const ReduceArgs&) = default;
};

ROOFTILE_CALLS(reduce, ReduceArgs, in)

// The element type of the result where the caller does not choose one. Of an input that reduce takes.
[[nodiscard]] DType reduce_out_dtype(ReduceOp op, DType in);

}  // namespace rooftile
