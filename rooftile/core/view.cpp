#include "rooftile/core/view.h"

#include <cstdint>
#include <limits>

namespace rooftile {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

Status too_large(const Extents& shape) {
  return invalid_argument("shape " + shape.to_string() +
                          " is too large: its size in bytes must fit in 63 bits");
}

}  // namespace

std::string Extents::to_string() const {
  std::string text = "[";
  for (int i = 0; i < rank_; ++i) {
    if (i > 0) text += ',';
    text += std::to_string((*this)[i]);
  }
  return text + "]";
}

Result<std::int64_t> checked_numel(const Extents& shape, std::size_t element_size) {
  std::int64_t nonzero = 1;  // the product of the extents that are not zero
  bool empty = false;
  for (const std::int64_t extent : shape.span()) {
    if (extent < 0) {
      return invalid_argument("shape " + shape.to_string() + " has a negative extent: extents start at 0");
    }
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(nonzero, extent, &nonzero)) {
      return too_large(shape);
    }
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(nonzero, element_size, &bytes)) return too_large(shape);
  return empty ? 0 : nonzero;
}

Extents contiguous_strides(const Extents& shape) {
  Extents strides = shape;
  std::int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

Status check_view(const ConstTensorView& view, std::string_view name) {
  const auto error = [&](const std::string& rule) {
    return invalid_argument(std::string(name) + ": " + rule)
        .with_shapes(std::string(name) + " " + view.to_string());
  };
  if (view.shape.rank() != view.strides.rank()) {
    return error("strides " + view.strides.to_string() + " do not belong to shape " + view.shape.to_string() +
                 ": give one stride per extent");
  }
  const std::size_t element = size_of(view.dtype);
  if (element == 0) return error("the dtype is none of Rooftile's: use one of the DType enumerators");
  const Result<std::int64_t> numel = checked_numel(view.shape, element);
  if (!numel.ok()) return error(numel.status().rule());
  if (*numel == 0) return {};

  // The elements furthest before and after data; both in bytes must fit, or byte_range overflows.
  std::int64_t before = 0;
  std::int64_t after = 1;
  for (int i = 0; i < view.rank(); ++i) {
    std::int64_t reach = 0;
    std::int64_t& side = view.strides[i] < 0 ? before : after;
    if (__builtin_mul_overflow(view.strides[i], view.shape[i] - 1, &reach) ||
        __builtin_add_overflow(side, reach, &side)) {
      return error("strides " + view.strides.to_string() + " reach beyond 63 bits");
    }
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(before, static_cast<std::int64_t>(element), &bytes) ||
      __builtin_mul_overflow(after, static_cast<std::int64_t>(element), &bytes)) {
    return error("strides " + view.strides.to_string() + " reach beyond 63 bits");
  }

  if (view.data == nullptr) return error("data is null: only an empty tensor may have no data");
  if (reinterpret_cast<std::uintptr_t>(view.data) % element != 0) {
    return error("data is not aligned to its element of " + std::to_string(element) +
                 " bytes: copy the tensor to aligned memory");
  }
  return {};
}

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
