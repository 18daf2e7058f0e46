// In place of gpu_launches.cu where there is no CUDA toolkit.
#include "rooftile/lab/time/gpu_launches.h"

namespace rooftile::lab {

Result<GpuLaunches> gpu_launches(StreamRef, const std::function<Status()>&) {
  return unavailable("this program is built without CUDA");
}

}  // namespace rooftile::lab
