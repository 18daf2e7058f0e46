// Which bytes a view touches, and whether two views share one.
#pragma once

#include <cstdint>

#include "rooftile/core/view.h"

namespace rooftile {

// The bytes [first, last) that a view touches, relative to data;
// {0, 0} for an empty one. Precondition: check_view is ok.
struct ByteRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
[[nodiscard]] ByteRange byte_range(const ConstTensorView& view);

// Whether two views share a byte: exact for strided views, too, so the planes of interleaved pixels do not overlap.
// Where no answer is found in kOverlapSteps steps, which takes strides that fit together badly, it is true.
// Precondition: check_view of both is ok. Nothing is read or allocated.
inline constexpr int kOverlapSteps = 4096;
[[nodiscard]] bool overlaps(const ConstTensorView& a, const ConstTensorView& b);

}  // namespace rooftile
