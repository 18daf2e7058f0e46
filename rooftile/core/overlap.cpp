#include "rooftile/core/overlap.h"

#include <cstdint>

namespace rooftile {

ByteRange byte_range(const ConstTensorView& view) {
  if (view.numel() == 0) return {};
  std::int64_t first = 0;
  std::int64_t last = 1;
  for (int i = 0; i < view.rank(); ++i) {
    const std::int64_t reach = view.strides[i] * (view.shape[i] - 1);
    (reach < 0 ? first : last) += reach;
  }
  const auto element = static_cast<std::int64_t>(size_of(view.dtype));
  return {first * element, last * element};
}

// Addresses alone decide: cpu and sim share the host's memory,
// and CUDA gives every GPU and the host one address space.
bool overlaps(const ConstTensorView& a, const ConstTensorView& b) {
  const ByteRange range_a = byte_range(a);
  const ByteRange range_b = byte_range(b);
  if (range_a.first == range_a.last || range_b.first == range_b.last) return false;
  const auto address = [](const ConstTensorView& view, std::int64_t offset) {
    return reinterpret_cast<std::uintptr_t>(view.data) + static_cast<std::uintptr_t>(offset);
  };
  return address(a, range_a.first) < address(b, range_b.last) &&
         address(b, range_b.first) < address(a, range_a.last);
}

}  // namespace rooftile
