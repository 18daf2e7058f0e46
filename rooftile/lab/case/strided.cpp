#include "rooftile/lab/case/strided.h"

#include <cstring>

#include "rooftile/core/overlap.h"

namespace rooftile::lab {
namespace {

// Calls body(row-major index, byte offset from the first element) for every element.
template <class Body>
void for_each_element(const Extents& shape, const Extents& strides, std::size_t size, Body body) {
  const std::int64_t count = contiguous_view<const void>(nullptr, DType::u8, kCpu, shape).numel();
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t offset = 0;
    std::int64_t rest = i;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      offset += rest % shape[d] * strides[d];
      rest /= shape[d];
    }
    body(i, offset * static_cast<std::int64_t>(size));
  }
}

}  // namespace

StridedSpan strided_span(const TensorSpec& spec, const Extents& strides) {
  const ByteRange range =
      byte_range({static_cast<const void*>(nullptr), spec.dtype, kCpu, spec.shape, strides});
  return {static_cast<std::size_t>(range.last - range.first), static_cast<std::size_t>(-range.first)};
}

std::vector<std::byte> strided_image(const HostTensor& dense, const Extents& strides, std::byte gap) {
  const StridedSpan span = strided_span({dense.dtype(), dense.shape()}, strides);
  std::vector<std::byte> image(span.bytes, gap);
  const std::size_t size = size_of(dense.dtype());
  const auto* from = static_cast<const std::byte*>(dense.data());
  std::byte* const first = image.data() + span.first_element;
  for_each_element(dense.shape(), strides, size, [&](std::int64_t i, std::int64_t offset) {
    std::memcpy(first + offset, from + static_cast<std::size_t>(i) * size, size);
  });
  return image;
}

Result<HostTensor> elements_of_image(const std::vector<std::byte>& image, const TensorSpec& spec,
                                     const Extents& strides, std::byte gap, std::int64_t& bad_gap) {
  ROOFTILE_TRY_ASSIGN(HostTensor dense, HostTensor::create(spec.dtype, spec.shape));
  const StridedSpan span = strided_span(spec, strides);
  const std::size_t size = size_of(spec.dtype);
  std::vector<bool> used(image.size());
  auto* const to = static_cast<std::byte*>(dense.data());
  for_each_element(spec.shape, strides, size, [&](std::int64_t i, std::int64_t offset) {
    const std::size_t at = span.first_element + static_cast<std::size_t>(offset);
    std::memcpy(to + static_cast<std::size_t>(i) * size, image.data() + at, size);
    for (std::size_t byte = at; byte < at + size; ++byte) used[byte] = true;
  });
  bad_gap = -1;
  for (std::size_t i = 0; i < image.size() && bad_gap < 0; ++i) {
    if (!used[i] && image[i] != gap) bad_gap = static_cast<std::int64_t>(i);
  }
  return dense;
}

}  // namespace rooftile::lab
