// The block adds up first.
//
// Idea       a thread adds many elements in a register, the block adds its threads, one atomic per block is
//            left.
// Change     as many blocks as are resident at once, a loop, and a block reduction.
// Bottleneck memory.
// Source     Harris, Optimizing Parallel Reduction in CUDA (2007).
#include "rooftile/core/rung.h"
#include "rooftile/device/block.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_count/access_count.h"
#include "rooftile/lessons/access_count/rungs/count_device.h"

namespace rooftile::ROOFTILE_TARGET::access_count_rungs {
namespace {

constexpr int kBlocksPerMultiprocessor = 8;  // 2048 threads

__global__ void __launch_bounds__(kBlock)
    atomic_per_block_kernel(const unsigned* g_x, unsigned* g_total, std::int64_t n) {
  __shared__ unsigned s_warp_sums[kWarpsOf<kBlock>];
  unsigned sum = 0;
  for (const std::int64_t i : grid_stride(n)) sum += g_x[i];
  const unsigned total =
      block_reduce<kBlock>(sum, 0u, s_warp_sums, [](unsigned a, unsigned b) { return a + b; });
  if (threadIdx.x == 0) atomicAdd(g_total, total);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessCountArgs>& call) {
  return launch_count(atomic_per_block_kernel, call.stream, call.args,
                      grid_blocks(call.args.x.numel(), kBlock,
                                  std::int64_t{call.device.multiprocessors} * kBlocksPerMultiprocessor));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_count_rungs
