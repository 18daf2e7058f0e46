// A strided tensor's memory as bytes on the host: its elements, and the gaps between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rooftile/core/host_tensor.h"
#include "rooftile/core/tensor.h"

namespace rooftile::lab {

// Where the elements lie: all of them in `bytes`, the first one at `first_element`.
struct StridedSpan {
  std::size_t bytes = 0;
  std::size_t first_element = 0;
};
[[nodiscard]] StridedSpan strided_span(const TensorSpec& spec, const Extents& strides);

// The memory of a tensor with these elements, every byte of a gap `gap`.
[[nodiscard]] std::vector<std::byte> strided_image(const HostTensor& dense, const Extents& strides,
                                                   std::byte gap);
// The elements of such memory. The offset of the first gap's byte that is not `gap` goes to `bad_gap`; -1: there is none.
[[nodiscard]] Result<HostTensor> elements_of_image(const std::vector<std::byte>& image,
                                                   const TensorSpec& spec, const Extents& strides,
                                                   std::byte gap, std::int64_t& bad_gap);

}  // namespace rooftile::lab
