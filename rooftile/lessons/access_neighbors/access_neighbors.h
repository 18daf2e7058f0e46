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
#pragma once

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessNeighborsArgs {
  ConstTensorView x;
  TensorView y;
};

const OperatorDescriptor& access_neighbors_operator();

}  // namespace rooftile
