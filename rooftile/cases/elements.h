// Elements of host tensors of any dtype, as bits.
#pragma once

#include <cstdint>

#include "rooftile/core/host_tensor.h"

namespace rooftile {

// The bits of one element.
[[nodiscard]] std::uint64_t element_bits(const HostTensor& tensor, std::int64_t i);

// A number that is ordered as the elements are: -0 and +0 are equal, and so are all NaNs, which are the largest.
[[nodiscard]] std::uint64_t order_bits(const HostTensor& tensor, std::int64_t i);

}  // namespace rooftile
