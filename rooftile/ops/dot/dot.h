// dot: the sum of the products of two vectors' elements.
//
// Shapes     a, b: one dimension of n elements each, any strides (0 and negative ones, too). out: one element.
// Dtypes     a and b alike: f64 f32 f16 bf16. out: any of these; default: a's.
// Accumulation  in compute_dtype at least: f64 for f64, else f32 by default; f64 may be asked for of f32 (BLAS's dsdot),
//            f16 of f16 and bf16 of bf16, which lets the lesson rungs take part.
// Alignment  that of an element: a and b may lie anyhow to each other.
// Aliasing   a may be b; out must not overlap them.
// Empty      0.
// NaN, +-0   as IEEE 754 has them.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      at most the rounding of serial chains of 1024 fused multiply-adds under a tree, and one rounding to out's
//            dtype (tests: dot_ref.cpp). Asked for in 16 bits, a sum may lose everything: see README.md.
// Determinism  run-to-run, but for the rungs with atomics, which are never chosen.
// Source     BLAS level 1: Lawson, Hanson, Kincaid and Krogh (1979); the last-block finish: the CUDA sample
//            threadFenceReduction.
#pragma once

#include <optional>

#include "rooftile/core/api.h"

namespace rooftile {

struct DotArgs {
  ConstTensorView a{};
  ConstTensorView b{};
  TensorView out{};
  std::optional<DType> compute_dtype = std::nullopt;  // what is accumulated in, at least
  std::optional<DType> out_dtype = std::nullopt;      // of a result that the call makes

  friend bool operator==(const DotArgs&, const DotArgs&) = default;
};

ROOFTILE_CALLS(dot, DotArgs, a, b)

}  // namespace rooftile
