// Sums of a block: by a tree in shared memory, by shuffles of its warps, by cooperative groups.
#include "rooftile/device/target.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlock = 256;
constexpr unsigned kGrid = kElements / kBlock;
constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = kBlock / kWarp;
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void tree_sum_kernel(const float* g_in, float* g_out) {
  __shared__ float s_sums[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_sums[t] = g_in[i];
  __syncthreads();
  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    if (t < stride) s_sums[t] += s_sums[t + stride];
    __syncthreads();
  }
  g_out[i] = s_sums[0];
}

// The tree down to a warp, whose lanes go on without the block.
__global__ void tree_with_last_warp_kernel(const float* g_in, float* g_out) {
  __shared__ float s_sums[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_sums[t] = g_in[i];
  __syncthreads();
  for (unsigned stride = kBlock / 2; stride >= kWarp; stride >>= 1) {
    if (t < stride) s_sums[t] += s_sums[t + stride];
    __syncthreads();
  }
  if (t < kWarp) {
    float sum = s_sums[t];
    for (unsigned stride = kWarp / 2; stride > 0; stride >>= 1) {
      sum += s_sums[t ^ stride];
      __syncwarp();
      s_sums[t] = sum;
      __syncwarp();
    }
  }
  __syncthreads();
  g_out[i] = s_sums[0];
}

__device__ float warp_sum(float value) {
#pragma unroll
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2)
    value += __shfl_down_sync(kAllLanes, value, offset);
  return value;
}

__global__ void shuffle_sum_kernel(const float* g_in, float* g_out) {
  __shared__ float s_warps[kWarps];
  __shared__ float s_total;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = warp_sum(g_in[i]);
  if (lane == 0) s_warps[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = warp_sum(lane < kWarps ? s_warps[lane] : 0.0f);
    if (lane == 0) s_total = sum;
  }
  __syncthreads();
  g_out[i] = s_total;
}

// The last step in a branch that eight lanes of the warp take, with a mask of all: the others have returned.
__global__ void mask_of_returned_kernel(const float* g_in, float* g_out) {
  __shared__ float s_warps[kWarps];
  const unsigned t = threadIdx.x;
  float sum = warp_sum(g_in[blockIdx.x * blockDim.x + t]);
  if (t % kWarp == 0) s_warps[t / kWarp] = sum;
  __syncthreads();
  if (t >= kWarps) return;
  sum = s_warps[t];
  for (unsigned offset = kWarps / 2; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(kAllLanes, sum, offset);  // BUG mask_of_returned
  }
  if (t == 0) g_out[blockIdx.x] = sum;
}

// The same, where the others wait for the block.
__global__ void mask_of_waiting_kernel(const float* g_in, float* g_out) {
  __shared__ float s_warps[kWarps];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  float sum = warp_sum(g_in[i]);
  if (t % kWarp == 0) s_warps[t / kWarp] = sum;
  __syncthreads();
  if (t < kWarps) {
    sum = s_warps[t];
    for (unsigned offset = kWarps / 2; offset > 0; offset /= 2) {
      sum += __shfl_down_sync(kAllLanes, sum, offset);  // BUG mask_of_waiting
    }
    if (t == 0) s_warps[0] = sum;
  }
  __syncthreads();
  g_out[i] = s_warps[0];
}

__global__ void mask_of_branch_kernel(const float* g_in, float* g_out) {
  __shared__ float s_warps[kWarps];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  float sum = warp_sum(g_in[i]);
  if (t % kWarp == 0) s_warps[t / kWarp] = sum;
  __syncthreads();
  if (t < kWarps) {
    constexpr unsigned kMask = (1u << kWarps) - 1;
    sum = s_warps[t];
    for (unsigned offset = kWarps / 2; offset > 0; offset /= 2) {
      sum += __shfl_down_sync(kMask, sum, offset, kWarps);
    }
    if (t == 0) s_warps[0] = sum;
  }
  __syncthreads();
  g_out[i] = s_warps[0];
}

__global__ void group_sum_kernel(const float* g_in, float* g_out) {
  __shared__ float s_tiles[kWarps];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<kWarp>(block);
  const unsigned i = blockIdx.x * blockDim.x + block.thread_rank();
  const float part = cg::reduce(tile, g_in[i], cg::plus<float>());
  if (tile.thread_rank() == 0) s_tiles[tile.meta_group_rank()] = part;
  block.sync();
  const float mine = tile.thread_rank() < kWarps ? s_tiles[tile.thread_rank()] : 0.0f;
  g_out[i] = cg::reduce(tile, mine, cg::plus<float>());
}

void block_sums(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) {
    out[i] = 0.0f;
    for (unsigned j = 0; j < kBlock; ++j) out[i] += in[i - i % kBlock + j];
  }
}

const Kernel kKernels[] = {
    {"tree_sum", run<kGrid, kBlock, tree_sum_kernel>, block_sums},
    {"tree_with_last_warp", run<kGrid, kBlock, tree_with_last_warp_kernel>, block_sums},
    {"shuffle_sum", run<kGrid, kBlock, shuffle_sum_kernel>, block_sums},
    {"group_sum", run<kGrid, kBlock, group_sum_kernel>, block_sums},
    {"mask_of_branch", run<kGrid, kBlock, mask_of_branch_kernel>, block_sums},
    {"mask_of_returned", run<kGrid, kBlock, mask_of_returned_kernel>, nullptr, "shuffle_source"},
    {"mask_of_waiting", run<kGrid, kBlock, mask_of_waiting_kernel>, nullptr, "deadlock"},
};

}  // namespace

std::span<const Kernel> reduction_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
