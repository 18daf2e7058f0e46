// Four loads, then the work.
//
// Idea       loads that do not depend on each other go out together: the latency of four is paid once.
// Change     a batch of four registers.
// Bottleneck latency still: nothing is on the way while the batch is worked on.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (2022).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    registers_batch_kernel(const float* g_x, float* g_y, std::int64_t n) {
  const std::int64_t step = grid_threads();
#pragma unroll 1
  for (std::int64_t i = grid_thread(); i < n; i += kDistance * step) {
    float r_values[kDistance];
#pragma unroll
    for (int k = 0; k < kDistance; ++k) {
      if (i + k * step < n) r_values[k] = g_x[i + k * step];
    }
#pragma unroll
    for (int k = 0; k < kDistance; ++k) {
      if (i + k * step < n) g_y[i + k * step] = work(r_values[k]);
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(registers_batch_kernel, call.stream, call.device, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
