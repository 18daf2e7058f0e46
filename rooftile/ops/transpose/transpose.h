// transpose: the last two dimensions of a tensor change places.
//
// Shapes     in: [..., m, n], out: [..., n, m], the same leading dimensions (none, or up to six). With
//            `packed` both have one dimension more, [..., m, n, p]: its p elements, without gaps, move as one
//            (complex numbers as pairs, pixels).
// Dtypes     any, in and out alike: bits are moved, not numbers. What moves as one is 1, 2, 4, 8 or 16 bytes.
// Strides    any in in, also 0 and negative; in out any that give every element a place of its own.
// Alignment  any pointer aligned to its element: what is not aligned to 16 bytes is served by narrower
//            accesses.
// Aliasing   out may be in itself where every matrix is square and both views have the same strides (in
//            place); otherwise they must not overlap.
// Empty      an extent of 0: a no-op.
// NaN, +-0   moved as they are, payloads included.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      none: the result is exact.
// Determinism  run-to-run, and the same by every rung.
// Workspace  none.
// Source     Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009); Frigo, Leiserson, Prokop
//            and Ramachandran, "Cache-Oblivious Algorithms" (1999) for the CPU; PTX ISA, tensor copies and
//            their swizzles.
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct TransposeArgs {
  ConstTensorView in{};
  TensorView out{};
  bool packed = false;  // the last dimension moves as one

  friend bool operator==(const TransposeArgs&, const TransposeArgs&) = default;
};

ROOFTILE_CALLS(transpose, TransposeArgs, in)

}  // namespace rooftile
