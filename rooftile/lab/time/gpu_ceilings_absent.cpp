// In place of gpu_ceilings.cu where there is no CUDA toolkit.
#include "rooftile/lab/time/gpu_ceilings.h"

namespace rooftile::lab {

Status fma_ceiling_cuda(StreamRef, int, int, float*, double*) {
  return unavailable("this program is built without CUDA");
}

Status l2_ceiling_cuda(StreamRef, int, const void*, std::size_t, int, void*) {
  return unavailable("this program is built without CUDA");
}

}  // namespace rooftile::lab
