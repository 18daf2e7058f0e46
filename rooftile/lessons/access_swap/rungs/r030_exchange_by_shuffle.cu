// Registers in place of shared memory.
//
// Idea       lanes exchange a register: no memory, nothing to order. A shuffle orders no memory either.
// Change     __shfl_xor_sync in place of a store, a __syncwarp() and a load.
// Bottleneck memory.
// Source     CUDA C++ Programming Guide, warp shuffle functions.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_swap/access_swap.h"
#include "rooftile/lessons/access_swap/rungs/swap_device.h"

namespace rooftile::ROOFTILE_TARGET::access_swap_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    exchange_by_shuffle_kernel(const float* g_x, float* g_y, std::int64_t n) {
  const std::int64_t i = grid_thread();
  const float value = i < n ? g_x[i] : 0.0f;
  float mine = 0.0f;
  if (lane_index() < kHalf) {
    mine = 2.0f * value;
  } else {
    mine = value + 1.0f;
  }
  const float other = shuffle_xor(mine, kHalf);
  if (i < n) g_y[i] = other;
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessSwapArgs>& call) {
  return launch_swap(exchange_by_shuffle_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_swap_rungs
