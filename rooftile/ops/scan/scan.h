// scan: prefix sums, minima and maxima along the last axis.
//
//   inclusive  out[i] = initial o in[0] o ... o in[i]
//   exclusive  out[i] = initial o in[0] o ... o in[i - 1]; out[0] = initial
//
// Shapes     in: any shape of one dimension and more, row-major without gaps; every row of the last axis by itself. out: the
//            same shape.
// Dtypes     f64 f32 f16 bf16, i8 u8 i32 u32 i64 u64; out: in's. sum: f16 and bf16 accumulate in fp32, integers modulo 2^bits.
// Initial    default: 0 for sum, nothing for min and max, whose exclusive scans start with the largest (smallest) value of
//            the dtype, an infinity for floats. Integers: a whole number that the dtype holds, up to 2^53.
// Alignment  that of an element.
// Aliasing   out may be in itself; otherwise they must not overlap.
// Empty      nothing to do.
// NaN, +-0   sum as IEEE 754 has it. min and max: NaN from the first NaN on. +0 and -0 are equal: either may come.
// Size       64-bit index arithmetic; 2^31 elements and more are served.
// Error      float sums: the rounding of a tree of chains, and one rounding to out's dtype (tests: scan_ref.cpp).
// Determinism  run-to-run, float sums too: tiles meet in a fixed order. The exception is the rung decoupled_lookback, which
//            is chosen for integers alone, whose sums are the same in any order.
// Source     Blelloch, "Prefix sums and their applications" (1990); Harris, Sengupta and Owens, GPU Gems 3, ch. 39; Merrill
//            and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (2016).
//
// A scan with an operation of one's own: scan_functor.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "rooftile/core/api.h"
#include "rooftile/core/enum_names.h"

namespace rooftile {

enum class ScanOp { sum, min, max };
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<ScanOp> = {"sum", "min", "max"};

struct ScanArgs {
  ConstTensorView in{};
  TensorView out{};
  ScanOp op = ScanOp::sum;
  bool exclusive = false;
  std::optional<double> initial = std::nullopt;

  friend bool operator==(const ScanArgs&, const ScanArgs&) = default;
};

ROOFTILE_CALLS(scan, ScanArgs, in)

}  // namespace rooftile
