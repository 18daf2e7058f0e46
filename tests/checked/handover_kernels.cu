// Blocks that order their accesses to global memory by atomics, rightly and not.
#include "rooftile/device/target.h"

#include "rooftile/device/last_block.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "tests/checked/kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kBlock = 64;

// All threads of the block write, thread 0 tells of it behind a barrier; the next block's thread 0 hears, and
// all of its threads read behind a barrier.
__global__ void chain_kernel(Handover kind, int* g_values, unsigned* g_flags, int* g_out) {
  const int t = static_cast<int>(threadIdx.x);
  const int b = static_cast<int>(blockIdx.x);
  const bool fences = kind == Handover::fences || kind == Handover::missing_fence;
  if (t == 0 && b > 0) {
    if (kind == Handover::release_acquire) {
      while (ld_acquire(&g_flags[b - 1]) == 0u) spin_hint();
    } else {
      while (atomicAdd(&g_flags[b - 1], 0u) == 0u) spin_hint();
      if (fences) __threadfence();
    }
  }
  __syncthreads();  // thread 0 has heard
  g_out[b * kBlock + t] = b > 0 ? g_values[(b - 1) * kBlock + t] : 0;
  g_values[b * kBlock + t] = b * kBlock + t;
  __syncthreads();  // the block's values are written
  if (t == 0) {
    if (kind == Handover::release_acquire) {
      st_release(&g_flags[b], 1u);
    } else {
      if (kind == Handover::fences) __threadfence();
      atomicExch(&g_flags[b], 1u);
    }
  }
}

// The same by mbarriers: thread 40 hears, and tells its block; the block's threads tell thread 32, which
// tells the next block.
__global__ void mbarrier_chain_kernel(Handover, int* g_values, unsigned* g_flags, int* g_out) {
  __shared__ Mbarrier s_heard;
  __shared__ Mbarrier s_written;
  const int t = static_cast<int>(threadIdx.x);
  const int b = static_cast<int>(blockIdx.x);
  if (t == 0) {
    mbarrier_init(&s_heard, 1);
    mbarrier_init(&s_written, kBlock);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are initialised
  if (t == 40) {
    while (b > 0 && ld_acquire(&g_flags[b - 1]) == 0u) spin_hint();
    mbarrier_arrive(&s_heard);
  }
  mbarrier_wait(&s_heard, 0);
  g_out[b * kBlock + t] = b > 0 ? g_values[(b - 1) * kBlock + t] : 0;
  g_values[b * kBlock + t] = b * kBlock + t;
  mbarrier_arrive(&s_written);
  if (t == 32) {
    mbarrier_wait(&s_written, 0);
    st_release(&g_flags[b], 1u);
  }
}

__global__ void ticket_kernel(Handover kind, int* g_values, unsigned* g_flags, int* g_out) {
  const unsigned blocks = gridDim.x;
  if (threadIdx.x == 0) g_values[blockIdx.x] = static_cast<int>(blockIdx.x);
  bool last = false;
  if (kind == Handover::ticket) {
    last = is_last_block(g_flags, blocks);
  } else {
    if (threadIdx.x == 0) last = atomicAdd(g_flags, 1u) == blocks - 1;
    last = __syncthreads_or(last) != 0;
  }
  if (last && threadIdx.x < blocks) g_out[threadIdx.x] = g_values[threadIdx.x];
}

}  // namespace

Status run_handover(StreamRef stream, Handover kind, unsigned blocks, int* g_values, unsigned* g_flags,
                    int* g_out) {
  const LaunchConfig config{.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream};
  const bool ticket = kind == Handover::ticket || kind == Handover::plain_ticket;
  if (kind == Handover::through_mbarrier) {
    return launch(mbarrier_chain_kernel, config, kind, g_values, g_flags, g_out);
  }
  return launch(ticket ? ticket_kernel : chain_kernel, config, kind, g_values, g_flags, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
