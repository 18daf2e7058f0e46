// In place of tensor_ceiling*.cu where there is no CUDA toolkit.
#include "rooftile/lab/time/tensor_ceiling.h"

namespace rooftile::lab {

Status wgmma_ceiling_cuda(StreamRef, TensorInput, int, int, float*, double*) {
  return unavailable("this program is built without CUDA");
}

Status mma_sync_ceiling_cuda(StreamRef, int, int, float*, double*) {
  return unavailable("this program is built without CUDA");
}

}  // namespace rooftile::lab
