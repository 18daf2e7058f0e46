// In place of l2_ceiling.cu where there is no CUDA toolkit.
#include "rooftile/lab/time/l2_ceiling.h"

namespace rooftile::lab {

Status l2_ceiling_cuda(StreamRef, int, const void*, std::size_t, int, void*) {
  return unavailable("this program is built without CUDA");
}

}  // namespace rooftile::lab
