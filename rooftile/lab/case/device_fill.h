// Inputs drawn where they are needed: the same bits as fill_tensor (fill.h), by the GPU.
#pragma once

#include <cstdint>

#include "rooftile/core/case.h"
#include "rooftile/core/dtype.h"
#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile {

// One declaration per target: the simulated one is there for the tests of the kernel's source.
// Enqueues the drawing of `count` elements, the tensor_index-th input of a case. `data` is aligned to
// an element.
namespace cuda::lab_kernels {
[[nodiscard]] Status fill_elements(StreamRef stream, void* data, DType dtype, std::int64_t count, Fill fill,
                                   std::uint64_t seed, std::uint64_t tensor_index);
}
namespace sim::lab_kernels {
[[nodiscard]] Status fill_elements(StreamRef stream, void* data, DType dtype, std::int64_t count, Fill fill,
                                   std::uint64_t seed, std::uint64_t tensor_index);
}

}  // namespace rooftile
