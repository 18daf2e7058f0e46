// The rule by which an output passes or fails.
#pragma once

#include <cstdint>
#include <string>

#include "rooftile/core/case.h"
#include "rooftile/core/host_tensor.h"

namespace rooftile {

struct Comparison {
  std::string mismatch;  // empty: every element passes; else index, got, expected, tolerance, how many
  bool nan_bits_alone =
      false;             // of what was only moved: every mismatch is a NaN with other bits than the right one
  double max_error = 0;  // the largest finite |out - exact|
  Allowed allowed{};     // and what would have passed
};

// Integers, and what was only moved, bit for bit. Floats by core/case.h: NaN and infinities by place
// (after rounding the exact value to the output's dtype), everything else within
// factor * |same_precision - exact| + floor; a comparison with NaN fails.
[[nodiscard]] Comparison compare(const HostTensor& out, const Expected& expected);

}  // namespace rooftile
