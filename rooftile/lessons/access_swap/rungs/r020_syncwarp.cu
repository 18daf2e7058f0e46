// The lanes meet.
//
// Idea       __syncwarp() orders what its lanes wrote before it with what they read behind it.
// Change     one line.
// Bottleneck memory.
// Source     CUDA C++ Programming Guide, __syncwarp.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_swap/access_swap.h"
#include "rooftile/lessons/access_swap/rungs/swap_device.h"

namespace rooftile::ROOFTILE_TARGET::access_swap_rungs {
namespace {

__global__ void __launch_bounds__(kBlock) syncwarp_kernel(const float* g_x, float* g_y, std::int64_t n) {
  __shared__ float s_values[kBlock];
  const std::int64_t i = grid_thread();
  const int t = static_cast<int>(threadIdx.x);
  const float value = i < n ? g_x[i] : 0.0f;
  if (lane_index() < kHalf) {
    s_values[t] = 2.0f * value;
  } else {
    s_values[t] = value + 1.0f;
  }
  __syncwarp();  // both halves have written
  const float other = s_values[t ^ kHalf];
  if (i < n) g_y[i] = other;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessSwapArgs>& call) {
  return launch_swap(syncwarp_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_swap_rungs
