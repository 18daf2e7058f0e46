// Sums of all before, of a block.
#include "rooftile/device/target.h"

#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlock = 256;
constexpr unsigned kGrid = kElements / kBlock;
constexpr unsigned kWarp = 32;

// Hillis and Steele: from one buffer to the other and back.
__global__ void two_buffers_kernel(const float* g_in, float* g_out) {
  __shared__ float s_sums[2][kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  unsigned from = 0;
  s_sums[0][t] = g_in[i];
  __syncthreads();
  for (unsigned offset = 1; offset < kBlock; offset *= 2) {
    const unsigned to = 1 - from;
    s_sums[to][t] = t >= offset ? s_sums[from][t] + s_sums[from][t - offset] : s_sums[from][t];
    from = to;
    __syncthreads();
  }
  g_out[i] = s_sums[from][t];
}

// The same in one buffer needs a second barrier, between reading and writing.
template <bool kSynchronises>
__global__ void one_buffer_kernel(const float* g_in, float* g_out) {
  __shared__ float s_sums[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_sums[t] = g_in[i];
  for (unsigned offset = 1; offset < kBlock; offset *= 2) {
    __syncthreads();
    const float before = t >= offset ? s_sums[t - offset] : 0.0f;
    if constexpr (kSynchronises) __syncthreads();
    s_sums[t] += before;  // BUG scan_in_one_buffer
  }
  g_out[i] = s_sums[t];
}

// Blelloch: sums up the tree, then down; two elements per thread.
template <bool kSynchronises>
__global__ void tree_scan_kernel(const float* g_in, float* g_out) {
  constexpr unsigned kLeaves = 2 * kBlock;
  __shared__ float s_tree[kLeaves];
  const unsigned t = threadIdx.x;
  const unsigned first = blockIdx.x * kLeaves;
  s_tree[t] = g_in[first + t];
  s_tree[t + kBlock] = g_in[first + t + kBlock];
  unsigned step = 1;
  for (unsigned nodes = kLeaves / 2; nodes > 0; nodes /= 2, step *= 2) {
    __syncthreads();
    if (t < nodes) s_tree[step * (2 * t + 2) - 1] += s_tree[step * (2 * t + 1) - 1];
  }
  if constexpr (kSynchronises) __syncthreads();
  if (t == 1) s_tree[kLeaves - 1] = 0.0f;  // BUG tree_scan_clears_early
  for (unsigned nodes = 1; nodes < kLeaves; nodes *= 2) {
    step /= 2;
    __syncthreads();
    if (t < nodes) {
      const unsigned left = step * (2 * t + 1) - 1;
      const unsigned right = step * (2 * t + 2) - 1;
      const float sum = s_tree[left];
      s_tree[left] = s_tree[right];
      s_tree[right] += sum;
    }
  }
  __syncthreads();
  for (const unsigned at : {t, t + kBlock}) g_out[first + at] = s_tree[at] + g_in[first + at];
}

// By warps, whose totals the first one scans.
__global__ void warp_scan_kernel(const float* g_in, float* g_out) {
  __shared__ float s_totals[kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto scan = [lane](float value) {
    for (unsigned offset = 1; offset < kWarp; offset *= 2) {
      const float before = __shfl_up_sync(0xffffffffu, value, offset);
      if (lane >= offset) value += before;
    }
    return value;
  };
  const float sum = scan(g_in[i]);
  if (lane == kWarp - 1) s_totals[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const float totals = scan(lane < kBlock / kWarp ? s_totals[lane] : 0.0f);
    __syncwarp();
    s_totals[lane] = totals;
  }
  __syncthreads();
  g_out[i] = sum + (warp > 0 ? s_totals[warp - 1] : 0.0f);
}

__global__ void group_scan_kernel(const float* g_in, float* g_out) {
  __shared__ float s_totals[kBlock / kWarp];
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<kWarp>(block);
  const unsigned i = blockIdx.x * blockDim.x + block.thread_rank();
  const float sum = cg::inclusive_scan(tile, g_in[i], cg::plus<float>());
  if (tile.thread_rank() == tile.size() - 1) s_totals[tile.meta_group_rank()] = sum;
  block.sync();
  float before = 0.0f;
  for (unsigned w = 0; w < tile.meta_group_rank(); ++w) before += s_totals[w];
  g_out[i] = before + sum;
}

template <int kScanned>
void scanned(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = in[i] + (i % kScanned == 0 ? 0.0f : out[i - 1]);
}

const Kernel kKernels[] = {
    {"scan_in_two_buffers", run<kGrid, kBlock, two_buffers_kernel>, scanned<kBlock>},
    {"scan_with_two_barriers", run<kGrid, kBlock, one_buffer_kernel<true>>, scanned<kBlock>},
    {"scan_in_one_buffer", run<kGrid, kBlock, one_buffer_kernel<false>>, nullptr, "race"},
    {"tree_scan", run<kGrid / 2, kBlock, tree_scan_kernel<true>>, scanned<2 * kBlock>},
    {"tree_scan_clears_early", run<kGrid / 2, kBlock, tree_scan_kernel<false>>, nullptr, "race"},
    {"warp_scan", run<kGrid, kBlock, warp_scan_kernel>, scanned<kBlock>},
    {"group_scan", run<kGrid, kBlock, group_scan_kernel>, scanned<kBlock>},
};

}  // namespace

std::span<const Kernel> scan_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
