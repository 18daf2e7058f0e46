// Wrong on purpose.
//
// Idea       each half of the warp writes in its own branch, then reads what the other half wrote.
// Mistake    nothing says that the other half has written. Before Volta a warp had one program counter and
//            the branches had joined; since then a half may run ahead, and the compiler may move the read.
// Source     GPU MODE, lecture 4; CUDA C++ Programming Guide, independent thread scheduling.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_swap/access_swap.h"
#include "rooftile/lessons/access_swap/rungs/swap_device.h"

namespace rooftile::ROOFTILE_TARGET::access_swap_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    missing_syncwarp_kernel(const float* g_x, float* g_y, std::int64_t n) {
  __shared__ float s_values[kBlock];
  const std::int64_t i = grid_thread();
  const int t = static_cast<int>(threadIdx.x);
  const float value = i < n ? g_x[i] : 0.0f;
  if (lane_index() < kHalf) {
    s_values[t] = 2.0f * value;
  } else {
    s_values[t] = value + 1.0f;
  }
  const float other = s_values[t ^ kHalf];  // BUG: no __syncwarp() before
  if (i < n) g_y[i] = other;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessSwapArgs>& call) {
  return launch_swap(missing_syncwarp_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_swap_rungs
