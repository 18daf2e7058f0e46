// Four elements per access.
//
// Idea       16 bytes per lane: a request touches 16 sectors, all of them used.
// Change     16-byte loads and stores; a quarter of the instructions.
// Limits     stride 1, both sides aligned to 16 bytes.
// Bottleneck bytes in flight: one load per thread before it waits.
// Source     CUDA Pro Tip: Increase Performance with Vectorized Memory Access (2013).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_copy/access_copy.h"
#include "rooftile/lessons/access_copy/rungs/copy_device.h"

namespace rooftile::ROOFTILE_TARGET::access_copy_rungs {
namespace {

constexpr int kCount = 4;

__global__ void __launch_bounds__(kBlock) float4_kernel(const float* g_x, float* g_y, std::int64_t n) {
  for (const std::int64_t i : grid_stride(n / kCount)) {
    store_vec(g_y + kCount * i, load_vec<LoadPolicy::cached, kCount * sizeof(float)>(g_x + kCount * i));
  }
  copy_tail<kCount>(g_x, g_y, n);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessCopyArgs>& call) {
  return launch_vectors<kCount>(float4_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_copy_rungs
