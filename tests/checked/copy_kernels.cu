// Asynchronous copies with one planted bug each; the comments BUG name the line that a report must give.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "tests/checked/kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kBlock = 64;
constexpr std::uint32_t kBytes = kBlock * sizeof(int);

__global__ void cp_async_kernel(CopyBug bug, const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_values[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  cp_async<4>(&s_values[t], &g_in[t]);
  cp_async_commit();
  if (bug == CopyBug::cp_async_not_waited) {
    g_out[t] = s_values[t];  // BUG cp_async_not_waited
    return;
  }
  cp_async_wait<0>();
  if (bug == CopyBug::cp_async_without_barrier) {
    g_out[t] = s_values[kBlock - 1 - t];  // BUG cp_async_without_barrier
    return;
  }
  __syncthreads();  // everybody's copies have arrived
  g_out[t] = s_values[kBlock - 1 - t];
  if (bug != CopyBug::cp_async_refilled_early) __syncthreads();  // all have read
  cp_async<4>(&s_values[t], &g_in[t]);                           // BUG cp_async_refilled_early
  if (bug == CopyBug::cp_async_newest_group) {
    cp_async_commit();
    cp_async_wait<1>();
    g_out[t] = s_values[t];  // BUG cp_async_newest_group
  }
  cp_async_wait_all();
  g_out[t] = s_values[t];
}

__global__ void bulk_load_kernel(CopyBug bug, const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_values[kBlock + 4];
  __shared__ Mbarrier s_full;
  const int t = static_cast<int>(threadIdx.x);
  const auto ask = [&](const int* g_source, std::uint32_t bytes ROOFTILE_AND_CALLER) {
    mbarrier_arrive_expect_tx(&s_full, bytes ROOFTILE_AND_HERE);
    bulk_load(s_values, g_source, bytes, &s_full ROOFTILE_AND_HERE);
  };
  if (t == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
  }
  if (bug == CopyBug::mbarrier_not_announced) {
    if (t == 0) ask(g_in, kBytes);
    mbarrier_wait(&s_full, 0);  // BUG mbarrier_not_announced
    g_out[t] = s_values[t];
    return;
  }
  if (bug == CopyBug::copy_not_announced) {
    if (t == 0) mbarrier_arrive_expect_tx(&s_full, kBytes);
    if (t == 32) bulk_load(s_values, g_in, kBytes, &s_full);  // BUG copy_not_announced
    __syncthreads();
    mbarrier_wait(&s_full, 0);
    g_out[t] = s_values[t];
    return;
  }
  if (bug == CopyBug::global_written_without_fence) {
    g_out[t] = g_in[t];
    fence_proxy_async<FenceSpace::shared_block>();  // not that of global memory
  }
  if (bug == CopyBug::none_global_written) {
    g_out[t] = g_in[t];
    fence_proxy_async();
  }
  if (bug == CopyBug::bulk_load_over_written || bug == CopyBug::none_over_written) {
    s_values[t] = t;
    if (bug == CopyBug::none_over_written) fence_proxy_async<FenceSpace::shared_block>();
  }
  __syncthreads();  // the barrier is initialised
  if (t == 0) {
    if (bug == CopyBug::bulk_load_over_written) {
      ask(g_in, kBytes);  // BUG bulk_load_over_written
    } else if (bug == CopyBug::bulk_load_behind) {
      ask(g_in, kBytes + 16);  // BUG bulk_load_behind
    } else if (bug == CopyBug::bulk_load_uninitialised) {
      ask(g_out, kBytes);  // BUG bulk_load_uninitialised
    } else if (bug == CopyBug::global_written_without_fence || bug == CopyBug::none_global_written) {
      ask(g_out, kBytes);  // BUG global_written_without_fence
    } else {
      ask(g_in, kBytes);
    }
  }
  if (bug != CopyBug::bulk_load_not_waited) mbarrier_wait(&s_full, 0);
  const int value = s_values[t];  // BUG bulk_load_not_waited
  if (bug == CopyBug::bulk_load_not_waited) mbarrier_wait(&s_full, 0);
  if (bug != CopyBug::bulk_load_refilled_early) __syncthreads();  // all have read
  if (t == 0) ask(g_in, kBytes);                                  // BUG bulk_load_refilled_early
  mbarrier_wait(&s_full, 1);
  g_out[t] = value + s_values[t];
}

__global__ void bulk_store_kernel(CopyBug bug, const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_values[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  if (bug == CopyBug::none_written_twice) {
    s_values[t] = 0;
    __syncthreads();  // zeros
    atomicAdd(&s_values[t / 2], 1);
    __syncthreads();  // all have counted, without a fence: it is overwritten now
    if (t < 32) {
      for (const int at : {t, t + 32}) s_values[at] = g_in[at];
      fence_proxy_async<FenceSpace::shared_block>();
    }
    __syncthreads();  // the tile is complete
    if (t == 0) {
      bulk_store(g_out, s_values, kBytes);
      bulk_commit();
      bulk_wait<0>();
    }
    return;
  }
  if (bug == CopyBug::store_uninitialised && t == 5) return;
  s_values[t] = g_in[t];  // BUG store_without_fence
  const bool fenced = bug != CopyBug::fence_behind_barrier && (bug != CopyBug::store_without_fence || t != 7);
  if (fenced) fence_proxy_async<FenceSpace::shared_block>();
  __syncthreads();  // the tile is complete
  if (bug == CopyBug::fence_behind_barrier) fence_proxy_async<FenceSpace::shared_block>();
  if (t != 0) return;
  bulk_store(g_out, s_values, kBytes);  // BUG store_uninitialised
  bulk_commit();
  if (bug == CopyBug::store_overwritten) {
    s_values[0] = 1;  // BUG store_overwritten
  }
  bulk_wait_read<0>();
  s_values[0] = 2;
  if (bug == CopyBug::store_read_back_early) {
    g_out[0] += 1;  // BUG store_read_back_early
  }
  bulk_wait<0>();
  g_out[0] += 1;
}

// Lane 0 of warp 0 writes in two phases; thread 40, which has waited for the first alone, reads when it knows
// by a relaxed flag that the second was written.
__global__ void phase_kernel(CopyBug bug, const int* g_in, int* g_out) {
  __shared__ int s_values[2];
  __shared__ unsigned s_flag;
  __shared__ Mbarrier s_phase;
  __shared__ Mbarrier s_second;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    mbarrier_init(&s_phase, bug == CopyBug::mbarrier_never_complete ? 3 : 2);
    mbarrier_init(&s_second, 1);
    fence_mbarrier_init();
    s_flag = 0;
  }
  __syncthreads();  // the barriers are initialised
  if (t == 0) {
    s_values[0] = g_in[0];
    mbarrier_arrive(&s_phase);
    mbarrier_wait(&s_phase, 0);  // BUG mbarrier_never_complete
    s_values[1] = g_in[1];
    mbarrier_arrive(&s_phase);
    atomicExch(&s_flag, 1u);
  } else if (t == 32) {
    mbarrier_arrive(&s_phase);
    mbarrier_wait(&s_phase, 0);
    mbarrier_arrive(&s_second);  // passes on what it has learned
  } else if (t == 40) {
    while (atomicAdd(&s_flag, 0u) == 0u) spin_hint();
    mbarrier_wait(&s_second, 0);
    g_out[0] = s_values[0];
    if (bug == CopyBug::phase_not_complete) {
      mbarrier_wait(&s_phase, 0);
      g_out[1] = s_values[1];  // BUG phase_not_complete
    }
  }
}

}  // namespace

Status run_copy_bug(StreamRef stream, CopyBug bug, const int* g_in, int* g_out) {
  const auto run = [&](auto* kernel) {
    return launch(kernel, {.grid = dim3(1), .block = dim3(kBlock), .stream = stream}, bug, g_in, g_out);
  };
  if (bug <= CopyBug::cp_async_newest_group) return run(cp_async_kernel);
  if (bug <= CopyBug::bulk_load_refilled_early) return run(bulk_load_kernel);
  if (bug <= CopyBug::store_read_back_early) return run(bulk_store_kernel);
  return run(phase_kernel);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
