// In place of device_fill.cu where there is no CUDA toolkit.
#include "rooftile/lab/case/device_fill.h"

namespace rooftile::cuda::lab_kernels {

Status fill_elements(StreamRef, void*, DType, std::int64_t, Fill, std::uint64_t, std::uint64_t) {
  return unavailable("this program is built without CUDA");
}

}  // namespace rooftile::cuda::lab_kernels
