// The range that a profiler looks at.
#pragma once

#include "rooftile/core/status.h"

namespace rooftile::lab {

// With `ncu --profile-from-start off`, kernels launched between the
// two are profiled and no others. Without a profiler they do nothing.
[[nodiscard]] Status start_profiler_range();
[[nodiscard]] Status stop_profiler_range();

}  // namespace rooftile::lab
