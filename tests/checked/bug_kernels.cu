// Kernels with one planted bug each; the comments BUG name the line that a report must give.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/warp.h"
#include "tests/checked/kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kBlock = 64;
constexpr unsigned kFull = 0xffffffffu;

__global__ void bug_kernel(Bug bug, const int* g_in, int* g_out, unsigned* g_flag) {
  __shared__ int s_values[kBlock];
  __shared__ int s_total;
  ROOFTILE_DYN_SHARED(int, s_dynamic);
  const int t = static_cast<int>(threadIdx.x);
  const int lane = t % 32;
  switch (bug) {
    case Bug::none:
      s_values[t] = g_in[t];
      __syncthreads();
      g_out[t] = s_values[kBlock - 1 - t];
      break;
    case Bug::none_with_partial_warps:
      if (lane < 20)
        g_out[t] = warp_reduce(
            g_in[t], [](int a, int b) { return a + b; }, 20);
      break;
    case Bug::missing_barrier:
      s_values[t] = g_in[t];
      g_out[t] = s_values[kBlock - 1 - t];  // BUG missing_barrier
      break;
    case Bug::write_after_read:
      s_values[t] = g_in[t];
      __syncthreads();
      g_out[t] = s_values[(t + 32) % kBlock];
      s_values[t] = 0;  // BUG write_after_read
      break;
    case Bug::two_writers:
      if (t == 3 || t == 40) s_total = t;  // BUG two_writers
      __syncthreads();
      g_out[t] = s_total;
      break;
    case Bug::missing_syncwarp:
      s_values[t] = g_in[t];
      g_out[t] = s_values[t ^ 1];  // BUG missing_syncwarp
      break;
    case Bug::partial_syncwarp:
      s_values[t] = g_in[t];
      if (lane < 16) {
        __syncwarp(0x0000ffffu);
      } else {
        __syncwarp(0xffff0000u);
      }
      g_out[t] = s_values[t ^ 16];  // BUG partial_syncwarp
      break;
    case Bug::uninitialised_shared:
      if (t != 5) s_values[t] = g_in[t];
      __syncthreads();
      g_out[t] = s_values[t];  // BUG uninitialised_shared
      break;
    case Bug::uninitialised_global:
      g_out[t] = g_in[t] + g_out[t];  // BUG uninitialised_global
      break;
    case Bug::global_read_behind:
      g_out[t] = g_in[t + 1];  // BUG global_read_behind
      break;
    case Bug::global_write_in_front:
      g_out[t - 1] = g_in[t];  // BUG global_write_in_front
      break;
    case Bug::dynamic_shared_behind:
      s_dynamic[t + 1] = g_in[t];  // BUG dynamic_shared_behind
      break;
    case Bug::static_shared_behind:
      s_values[t + g_in[0]] = t;  // BUG static_shared_behind
      break;
    case Bug::input_written:
      const_cast<int*>(g_in)[t] = 1;  // BUG input_written
      break;
    case Bug::divergent_barrier:
      if (t < 32) {
        __syncthreads();
      } else {
        __syncthreads();  // BUG divergent_barrier
      }
      break;
    case Bug::exited_lane:
      if (lane == 7) return;
      g_out[t] = __shfl_sync(kFull, t, 7);  // BUG exited_lane
      break;
    case Bug::deadlock:
      if (lane == 0) {
        __syncthreads();  // BUG deadlock
      } else {
        g_out[t] = __shfl_sync(kFull, t, 0);
      }
      break;
    case Bug::livelock:
      while (ld_acquire(g_flag) == 0u) spin_hint();  // BUG livelock
      break;
  }
}

}  // namespace

Status run_bug(StreamRef stream, Bug bug, const int* g_in, int* g_out, unsigned* g_flag) {
  return launch(
      bug_kernel,
      {.grid = dim3(1), .block = dim3(kBlock), .shared_bytes = kBlock * sizeof(int), .stream = stream}, bug,
      g_in, g_out, g_flag);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
