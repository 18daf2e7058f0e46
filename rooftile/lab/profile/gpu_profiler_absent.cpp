// In place of gpu_profiler.cu where there is no CUDA toolkit.
#include "rooftile/lab/profile/gpu_profiler.h"

namespace rooftile::lab {

Status start_profiler_range() { return unavailable("this program is built without CUDA"); }
Status stop_profiler_range() { return unavailable("this program is built without CUDA"); }

}  // namespace rooftile::lab
