// Copies past the registers.
//
// Idea       cp.async goes from global to shared memory by itself; the thread waits only for the oldest of
//            four groups.
// Change     no register and no dependent store per copy; slots of the lanes side by side, so that no padding
//            is needed.
// Limits     compute capability 8.0.
// Bottleneck latency over four copies.
// Source     PTX ISA, cp.async.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_prefetch/access_prefetch.h"
#include "rooftile/lessons/access_prefetch/rungs/prefetch_device.h"

namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) async_copies_kernel(const float* g_x, float* g_y, std::int64_t n) {
  __shared__ float s_ring[kDistance][kBlock];
  const int t = static_cast<int>(threadIdx.x);
  const std::int64_t step = grid_threads();
  for (int k = 0; k < kDistance; ++k) {
    const std::int64_t i = grid_thread() + k * step;
    if (i < n) cp_async<sizeof(float)>(&s_ring[k][t], g_x + i);
    cp_async_commit();
  }
  int slot = 0;
#pragma unroll 1
  for (std::int64_t i = grid_thread(); i < n; i += step) {
    cp_async_wait<kDistance - 1>();  // this thread's oldest copy; nobody else reads its words
    const float v = s_ring[slot][t];
    if (i + kDistance * step < n) cp_async<sizeof(float)>(&s_ring[slot][t], g_x + i + kDistance * step);
    cp_async_commit();  // empty at the end, so that the count stays right
    g_y[i] = work(v);
    slot = (slot + 1) % kDistance;
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessPrefetchArgs>& call) {
  return launch_walk(async_copies_kernel, call.stream, call.device, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_prefetch_rungs
