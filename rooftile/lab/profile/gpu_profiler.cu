#include "rooftile/lab/profile/gpu_profiler.h"

#include <cuda_profiler_api.h>

#include <string>

namespace rooftile::lab {
namespace {

Status checked(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return {};
  return Status::error(StatusCode::device_error, std::string(call) + " failed: " + cudaGetErrorString(error));
}

}  // namespace

Status start_profiler_range() { return checked(cudaProfilerStart(), "cudaProfilerStart"); }
Status stop_profiler_range() { return checked(cudaProfilerStop(), "cudaProfilerStop"); }

}  // namespace rooftile::lab
