#include "rooftile/device/target.h"

#include "rooftile/device/cooperative_groups.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"
#include "tests/sim/kernels.h"

#undef NDEBUG  // the assertion must stand in release builds too
#include <cassert>

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kFull = 0xffffffffu;

// The line numbers that the tests expect are those of the calls marked here.
__global__ void misuse_kernel(Misuse misuse, unsigned* g_flag) {
  const unsigned t = threadIdx.x;
  const int lane = static_cast<int>(t % 32);
  switch (misuse) {
    case Misuse::divergent_barrier:
      if (t < 32) {
        __syncthreads();
      } else {
        __syncthreads();
      }
      break;
    case Misuse::barrier_not_reached:
      if (t < 32) {
        while (ld_acquire(g_flag) == 0u) spin_hint();
      }
      __syncthreads();
      if (t == 0) st_release(g_flag, 1u);
      break;
    case Misuse::missing_lane:
      if (lane == 7) {
        __syncthreads();
      } else {
        *g_flag = __shfl_sync(kFull, t, 0);
        __syncthreads();
      }
      break;
    case Misuse::lane_not_in_own_mask:
      *g_flag = __ballot_sync(0x0000ffffu, 1);
      break;
    case Misuse::different_collectives:
      if (lane < 16) {
        *g_flag = static_cast<unsigned>(__any_sync(kFull, 1));
      } else {
        *g_flag = __shfl_sync(kFull, t, 0);
      }
      break;
    case Misuse::shuffle_width:
      *g_flag = __shfl_down_sync(kFull, t, 1, 12);
      break;
    case Misuse::grid_sync_not_reached:
      if (blockIdx.x == 1) return;
      cg::this_grid().sync();
      break;
    case Misuse::grid_sync_not_cooperative:
      cg::this_grid().sync();
      break;
    case Misuse::grid_sync_after_exit:
      if (blockIdx.x == 1 && t == 5) return;
      cg::this_grid().sync();
      break;
    case Misuse::flag_never_set:
      while (ld_acquire(g_flag) == 0u) {
      }
      break;
    case Misuse::flag_never_set_cas:
      while (atomicCAS(g_flag, 5u, 6u) != 5u) {
      }
      break;
    case Misuse::waits_for_later_block:
      if (blockIdx.x == 0) {
        while (ld_acquire(g_flag) == 0u) spin_hint();
      } else {
        st_release(g_flag, 1u);
      }
      break;
    case Misuse::polls_between_barriers:
      while (__syncthreads_or(t == 0 && ld_acquire(g_flag) != 0u) == 0) spin_hint();
      break;
    case Misuse::works_between_barriers:
      for (unsigned x = 1; __syncthreads_or(x == 0) == 0;) x = (x * 3u) | 1u;
      break;
    case Misuse::spins_on_volatile: {
      const volatile unsigned* flag = g_flag;
      while (*flag == 0u) {
      }
      break;
    }
    case Misuse::endless_loop:
      for (volatile unsigned x = 0; x < 100u;) x = x ^ 1u;
      break;
    case Misuse::assertion:
      assert(t != 40 && "thread 40 must not be");
      break;
    case Misuse::trap:
      if (t == 3) __trap();
      break;
  }
}

}  // namespace

Status run_misuse(StreamRef stream, Misuse misuse, unsigned* g_flag) {
  const bool cooperative = misuse == Misuse::grid_sync_not_reached || misuse == Misuse::grid_sync_after_exit;
  return launch(misuse_kernel,
                {.grid = dim3(3), .block = dim3(64), .stream = stream, .cooperative = cooperative}, misuse,
                g_flag);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
