// The block that finishes last, without a second launch.
#pragma once

#include <cstdint>

#include "rooftile/device/poll.h"
#include "rooftile/device/target.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// True in every thread of exactly one block of the grid: the last that calls it. That block sees what thread
// 0 of every other block wrote before its own call. `g_counter` is zero before the launch and zero again
// afterwards. All threads of the block must call it; it is a block-wide barrier.
__device__ __forceinline__ bool is_last_block(std::uint32_t* g_counter, std::uint32_t blocks) {
  const bool last = threadIdx.x == 0 && fetch_inc_acq_rel(g_counter, blocks - 1) == blocks - 1;
  return __syncthreads_or(last) != 0;
}

// The same by one full warp of each block, for a block whose other warps have
// nothing left to do: true in every lane of the warp that calls it last. It
// sees what lane 0 of the other callers wrote before. A warp-wide barrier.
__device__ __forceinline__ bool is_last_warp(std::uint32_t* g_counter, std::uint32_t warps) {
  std::uint32_t before = 0;
  if (threadIdx.x % kWarpSize == 0) before = fetch_inc_acq_rel(g_counter, warps - 1);
  before = __shfl_sync(kFullMask, before, 0);
  __syncwarp();  // orders what lane 0 saw before what the other lanes read; a shuffle alone does not
  return before == warps - 1;
}

}  // namespace rooftile::ROOFTILE_TARGET
