// access_copy: y[i] = x[offset + i * stride]: how far apart the lanes of a warp read.
//
// Shapes     x: [L], row-major; y: [n] with offset + (n - 1) * stride < L.
// Dtypes     f32 -> f32: bits are copied.
// Alignment  any pointer aligned to its element; vectors are used where both sides permit them.
// Aliasing   y must not overlap x.
// Size       64-bit index arithmetic.
// Source     CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include <cstdint>

#include "rooftile/core/api.h"

namespace rooftile {

struct AccessCopyArgs {
  ConstTensorView x;
  TensorView y;
  std::int64_t offset = 0;  // elements, not negative
  std::int64_t stride = 1;  // elements, at least 1
};

const OperatorDescriptor& access_copy_operator();

}  // namespace rooftile
