// access_constant: a table of 64 numbers, read at one index by all lanes of a warp or by each at its own.
//
// Shapes     x: any shape, row-major; y: the same shape. Element i, counted in order, is the polynomial
//            acc = fma(acc, x[i], table[(first + r) % 64]) for r = 0 ... 63, from acc = 0, with table[k] = 1
//            / (k + 1) and first = i / 32 (index uniform: one for the 32 elements of a warp) or i (index
//            lane).
// Dtypes     f32 -> f32.
// Alignment  any pointer aligned to its element.
// Aliasing   y must not overlap x.
// NaN, inf   as IEEE 754 arithmetic has them.
// Size       64-bit index arithmetic.
// Error      exact: every rung performs the same roundings in the same order.
// Source     CUDA C++ Best Practices Guide, constant memory.
// Empty      nothing to do.
// Determinism  run-to-run.
#pragma once

#include <array>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

// Which entry of the table an element begins with.
enum class ConstantIndex { uniform, lane };
template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<ConstantIndex> = {"uniform", "lane"};

struct AccessConstantArgs {
  ConstTensorView x;
  TensorView y;
  ConstantIndex index = ConstantIndex::uniform;
};

const OperatorDescriptor& access_constant_operator();

}  // namespace rooftile
