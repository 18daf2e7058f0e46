// The batch waits in shared memory.
//
// Idea       shared memory holds more than registers, and has an index.
// Change     a thread's four words of shared memory in place of four registers. Each thread reads what it
//            wrote itself: no barrier.
// Bottleneck latency; the lanes are 16 bytes apart, so that a request has four passes.
// Source     Mattson, Boosting Application Performance with GPU Memory Prefetching (2022).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) shared_batch_kernel(const float* g_x, float* g_y, std::int64_t n) {
  __shared__ float s_values[kBlock * kDistance];
  float* const s_own = s_values + kDistance * threadIdx.x;
  const std::int64_t step = grid_threads();
#pragma unroll 1
  for (std::int64_t i = grid_thread(); i < n; i += kDistance * step) {
#pragma unroll
    for (int k = 0; k < kDistance; ++k) {
      if (i + k * step < n) s_own[k] = g_x[i + k * step];
    }
#pragma unroll 1
    for (int k = 0; k < kDistance; ++k) {
      if (i + k * step < n) g_y[i + k * step] = work(s_own[k]);
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(shared_batch_kernel, call.stream, call.device, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
