// From a CUDA runtime error to a Status. No CUDA headers here; compiled only with CUDA.
#pragma once

#include <string_view>

#include "rooftile/core/status.h"

namespace rooftile::detail {

// `code` is a cudaError_t other than cudaSuccess, `what` says what was being done: "what: cudaErrorName
// (text)". Out of memory, no usable driver or device, and the rest (device_error) have codes of their own.
// Leaves the runtime's last-error state alone.
[[nodiscard]] Status cuda_error_status(int code, std::string_view what,
                                       SourceLocation where = SourceLocation::current());

}  // namespace rooftile::detail
