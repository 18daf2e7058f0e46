// One load per step, four steps ahead.
//
// Idea       a register is filled again as soon as its value is taken: loads never stop.
// Change     the load of the next round goes out before the work of this one.
// Limits     registers have no index: the loop over the ring is unrolled.
// Bottleneck latency over four loads.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (2022).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    registers_rolling_kernel(const float* g_x, float* g_y, std::int64_t n) {
  const std::int64_t step = grid_threads();
  float r_values[kDistance];
#pragma unroll
  for (int k = 0; k < kDistance; ++k) {
    const std::int64_t i = grid_thread() + k * step;
    r_values[k] = i < n ? g_x[i] : 0.0f;
  }
#pragma unroll 1
  for (std::int64_t first = grid_thread(); first < n; first += kDistance * step) {
#pragma unroll
    for (int k = 0; k < kDistance; ++k) {
      const std::int64_t i = first + k * step;
      const float v = r_values[k];
      if (i + kDistance * step < n) r_values[k] = g_x[i + kDistance * step];
      if (i < n) g_y[i] = work(v);
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(registers_rolling_kernel, call.stream, call.device, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
