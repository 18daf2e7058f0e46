#include "rooftile/device/target.h"

#include "rooftile/device/cooperative_groups.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"
#include "tests/sim/kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlock = 256;

// Thread t adds its right neighbour's value to its own; without the barrier it may find the neighbour's old
// one.
__global__ void block_sum_kernel(bool with_barrier, const int* g_in, int* g_out) {
  __shared__ int s_values[1024];
  const unsigned t = threadIdx.x;
  s_values[t] = g_in[t];
  __syncthreads();  // all values are there
  for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
    if (t < stride) s_values[t] += s_values[t + stride];
    if (with_barrier) __syncthreads();  // this round's sums before the next round reads them
  }
  if (t == 0) *g_out = s_values[0];
}

__global__ void __launch_bounds__(kBlock)
    tree_reduce_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  __shared__ float s_values[kBlock];
  const unsigned t = threadIdx.x;
  s_values[t] = g_in[blockIdx.x * kBlock + t];
  __syncthreads();  // all values are there
  for (unsigned stride = kBlock / 2; stride > 0; stride /= 2) {
    if (t < stride) s_values[t] += s_values[t + stride];
    __syncthreads();  // this round's sums before the next round reads them
  }
  if (t == 0) g_out[blockIdx.x] = s_values[0];
}

__global__ void __launch_bounds__(kBlock) shuffle_reduce_kernel(const float* g_in, float* g_out) {
  __shared__ float s_sums[kBlock / 32];
  float sum = g_in[blockIdx.x * kBlock + threadIdx.x];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) s_sums[threadIdx.x / 32] = sum;
  __syncthreads();  // every warp's sum is there
  if (threadIdx.x == 0) {
    float total = 0;
    for (unsigned w = 0; w < kBlock / 32; ++w) total += s_sums[w];
    g_out[blockIdx.x] = total;
  }
}

__global__ void scale_kernel(float factor, const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  g_out[i] = factor * g_in[i];
}

__global__ void atomics_kernel(AtomicTotals* g_totals) {
  const int rank = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&g_totals->add_int, 3);
  atomicSub(&g_totals->sub_int, 2);
  atomicMin(&g_totals->min_int, -rank);
  atomicMax(&g_totals->max_int, rank);
  atomicAnd(&g_totals->and_int, ~(1 << (rank % 20)));
  atomicOr(&g_totals->or_int, 1 << (rank % 20));
  atomicXor(&g_totals->xor_int, 1 << (rank % 5));
  atomicAdd(&g_totals->add_unsigned, 1u);
  atomicInc(&g_totals->inc_unsigned, 6u);
  atomicDec(&g_totals->dec_unsigned, 6u);
  atomicExch(&g_totals->exchanged, 77u);
  atomicAdd(&g_totals->add_ull, 1ull << 33);
  atomicMax(&g_totals->max_ull, static_cast<unsigned long long>(rank) << 32);
  atomicMin(&g_totals->min_ll, -(static_cast<long long>(rank) << 32));
  atomicAdd(&g_totals->add_float, 0.5f);
  atomicAdd(&g_totals->add_double, 0.25);
  if (rank < 100) {
    atomicAdd(reinterpret_cast<__half*>(&g_totals->add_half), __float2half(1.0f));
    atomicAdd(reinterpret_cast<__nv_bfloat16*>(&g_totals->add_bfloat16), __float2bfloat16(1.0f));
  }
  unsigned short seen = g_totals->cas_short;
  unsigned short expected;
  do {
    expected = seen;
    seen = atomicCAS(&g_totals->cas_short, expected, static_cast<unsigned short>(expected + 1));
  } while (seen != expected);
  atomicAdd_block(&g_totals->add_int, 0);

  while (atomicCAS(&g_totals->lock, 0u, 1u) != 0u) {
  }
  __threadfence();
  volatile unsigned* g_count = &g_totals->locked_count;
  *g_count = *g_count + 1;
  __threadfence();
  atomicExch(&g_totals->lock, 0u);
}

__global__ void chain_kernel(unsigned* g_flags, unsigned* g_values) {
  const unsigned b = blockIdx.x;
  if (threadIdx.x == 0) {
    if (b > 0) {
      while (ld_acquire(&g_flags[b - 1]) == 0u) spin_hint();
    }
    g_values[b] = b == 0 ? 1u : g_values[b - 1] + b;
    st_release(&g_flags[b], 1u);
  }
}

__global__ void grid_sync_kernel(int rounds, int* g_values) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned neighbour = (blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x;
  for (int round = 0; round < rounds; ++round) {
    const int seen = g_values[neighbour];
    grid.sync();  // everybody has read
    g_values[i] = seen + 1;
    grid.sync();  // everybody has written
  }
}

__global__ void printf_kernel() {
  if (threadIdx.x % 8 == 0)
    printf("block %d thread %d of %s %.2f\n", blockIdx.x, threadIdx.x, "a kernel", 0.25);
}

__global__ void dynamic_shared_kernel(unsigned words, unsigned* g_out) {
  ROOFTILE_DYN_SHARED(unsigned, s_words);
  const unsigned before = s_words[words - 1];
  __syncthreads();  // everybody has seen the poison
  for (unsigned i = threadIdx.x; i < words; i += blockDim.x) s_words[i] = i;
  __syncthreads();  // all words are written
  if (threadIdx.x == 0) {
    g_out[3 * blockIdx.x] = before;
    g_out[3 * blockIdx.x + 1] = s_words[words / 2];
    g_out[3 * blockIdx.x + 2] = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(s_words) % 1024);
  }
}

__global__ void indices_kernel(unsigned* g_seen) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  atomicAdd(&g_seen[block * threads + thread], 1u + threadIdx.z);
}

__global__ void copy_kernel(unsigned vectors, const float* g_in, float* g_out) {
  __shared__ __align__(16) float4 s_tile[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= vectors) return;
  s_tile[threadIdx.x] = reinterpret_cast<const float4*>(g_in)[i];
  const float4 value = s_tile[threadIdx.x];
  reinterpret_cast<float4*>(g_out)[i] = make_float4(value.x, value.y, value.z, value.w);
}

__global__ void empty_kernel() {}

}  // namespace

Status run_block_sum(StreamRef stream, bool with_barrier, unsigned threads, const int* g_in, int* g_out) {
  return launch(block_sum_kernel, {.block = dim3(threads), .stream = stream}, with_barrier, g_in, g_out);
}
Status run_tree_reduce(StreamRef stream, unsigned blocks, const float* g_in, float* g_out) {
  return launch(tree_reduce_kernel, {.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream}, g_in,
                g_out);
}
Status run_shuffle_reduce(StreamRef stream, unsigned blocks, const float* g_in, float* g_out) {
  return launch(shuffle_reduce_kernel, {.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream}, g_in,
                g_out);
}
Status run_scale(StreamRef stream, unsigned blocks, float factor, const float* g_in, float* g_out) {
  return launch(scale_kernel, {.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream}, factor, g_in,
                g_out);
}
Status run_atomics(StreamRef stream, unsigned blocks, unsigned threads, AtomicTotals* g_totals) {
  return launch(atomics_kernel, {.grid = dim3(blocks), .block = dim3(threads), .stream = stream}, g_totals);
}
Status run_chain(StreamRef stream, unsigned blocks, unsigned* g_flags, unsigned* g_values) {
  return launch(chain_kernel, {.grid = dim3(blocks), .block = dim3(64), .stream = stream}, g_flags, g_values);
}
Status run_grid_sync(StreamRef stream, unsigned blocks, unsigned threads, int rounds, int* g_values) {
  return launch(grid_sync_kernel,
                {.grid = dim3(blocks), .block = dim3(threads), .stream = stream, .cooperative = true}, rounds,
                g_values);
}
Status run_printf(StreamRef stream, unsigned blocks, unsigned threads) {
  return launch(printf_kernel, {.grid = dim3(blocks), .block = dim3(threads), .stream = stream});
}
Status run_dynamic_shared(StreamRef stream, unsigned bytes, unsigned* g_out) {
  return launch(dynamic_shared_kernel,
                {.grid = dim3(3), .block = dim3(64), .shared_bytes = bytes, .stream = stream},
                bytes / static_cast<unsigned>(sizeof(unsigned)), g_out);
}
Status run_indices(StreamRef stream, unsigned* g_seen) {
  return launch(indices_kernel, {.grid = dim3(3, 2, 2), .block = dim3(4, 3, 2), .stream = stream}, g_seen);
}
Status run_copy(StreamRef stream, unsigned n, const float* g_in, float* g_out) {
  return launch(copy_kernel, {.grid = dim3((n / 4 + 31) / 32), .block = dim3(32), .stream = stream}, n / 4,
                g_in, g_out);
}
Status run_unchecked_sizes(StreamRef stream, unsigned grid, unsigned block, unsigned shared_bytes,
                           unsigned cluster, bool cooperative) {
  return launch(empty_kernel, {.grid = dim3(grid),
                               .block = dim3(block),
                               .shared_bytes = shared_bytes,
                               .stream = stream,
                               .cluster = dim3(cluster),
                               .cooperative = cooperative});
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
