// Compiled in place of cuda_backend.cpp where CMake found no CUDA toolkit.
#include "rooftile/core/detail/backend.h"

namespace rooftile::detail {

GpuBackend* cuda_backend() { return nullptr; }

const CudaProbe& cuda_probe() {
  static const CudaProbe& probe = *new CudaProbe{
      0, unavailable("this program was built without CUDA: configure it with a CUDA toolkit to use a GPU")};
  return probe;
}

const Status& cuda_first_device_status() { return cuda_probe().status; }

}  // namespace rooftile::detail
