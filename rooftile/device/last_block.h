// The block that finishes last, without a second launch.
#pragma once

#include <cstdint>

#include "rooftile/device/poll.h"
#include "rooftile/device/target.h"

namespace rooftile::ROOFTILE_TARGET {

// True in every thread of exactly one block of the grid: the last that calls it. That block sees what thread
// 0 of every other block wrote before its own call. `g_counter` is zero before the launch and zero again
// afterwards. All threads of the block must call it; it is a block-wide barrier.
__device__ __forceinline__ bool is_last_block(std::uint32_t* g_counter, std::uint32_t blocks) {
  bool last = false;
  if (threadIdx.x == 0) {
    last = fetch_add_acq_rel(g_counter, 1u) == blocks - 1;
    if (last) *g_counter = 0;
  }
  return __syncthreads_or(last) != 0;
}

}  // namespace rooftile::ROOFTILE_TARGET
