#include "rooftile/core/detail/cuda_error.h"

#include <cuda_runtime_api.h>

#include <string>
#include <utility>

namespace rooftile::detail {
namespace {

StatusCode status_code(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return StatusCode::out_of_memory;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInitializationError:
    case cudaErrorStubLibrary:
    case cudaErrorDevicesUnavailable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorCompatNotSupportedOnDevice:
      return StatusCode::unavailable;
    default:
      return StatusCode::device_error;
  }
}

// How to mend what the CUDA text alone does not tell.
std::string_view advice(cudaError_t error) {
  switch (error) {
    case cudaErrorInsufficientDriver:
      return ": install a newer NVIDIA driver";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorMisalignedAddress:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
      return ": an earlier kernel may have caused it; ROOFTILE_SYNC_LAUNCH=1 finds out which";
    default:
      return "";
  }
}

}  // namespace

Status cuda_error_status(int code, std::string_view what, SourceLocation where) {
  const auto error = static_cast<cudaError_t>(code);
  std::string text(what);
  text += std::string(": ") + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")";
  text += advice(error);
  return Status::error(status_code(error), std::move(text), where);
}

}  // namespace rooftile::detail
