// In place of arithmetic_*.cu where there is no CUDA toolkit.
#include "rooftile/lab/time/arithmetic_kernels.h"

namespace rooftile::lab {

Status fma_cuda(StreamRef, Arithmetic, int, int, void*) {
  return unavailable("this program is built without CUDA");
}

Status mma_sync_bf16_cuda(StreamRef, int, int, void*) {
  return unavailable("this program is built without CUDA");
}

Status hopper_cuda(StreamRef, Arithmetic, int, int, void*) {
  return unavailable("this program is built without CUDA");
}

}  // namespace rooftile::lab
