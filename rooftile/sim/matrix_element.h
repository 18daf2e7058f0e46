// The 16-bit floats of tensor cores, by their type in kernels.
#pragma once

#include <type_traits>

#include "rooftile/sim/bfloat16.h"
#include "rooftile/sim/half.h"
#include "rooftile/sim/wmma_layout.h"

namespace rooftile::simt::detail {

template <class T>
inline constexpr MatrixElement kMatrixElement =
    std::is_same_v<T, __half> ? MatrixElement::float16 : MatrixElement::bfloat16;

}  // namespace rooftile::simt::detail
