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
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessTileArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_tile_operator();

}  // namespace rooftile
