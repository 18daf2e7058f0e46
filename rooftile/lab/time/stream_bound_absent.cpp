// In place of stream_bound.cu where there is no CUDA toolkit.
#include "rooftile/lab/time/stream_bound.h"

namespace rooftile::lab {

Status stream_bound_cuda(StreamRef, StreamAccess, const void*, std::size_t, void*, std::size_t, void*) {
  return unavailable("this program is built without CUDA");
}

}  // namespace rooftile::lab
