// Reductions of a whole grid: by the block that finishes last, by a barrier of the grid, by one atomic.
#include "rooftile/device/target.h"

#include <cooperative_groups.h>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlock = 256;
constexpr unsigned kGrid = kElements / kBlock;
constexpr unsigned kWarp = 32;

__device__ float g_partials[kGrid];
__device__ unsigned g_ticket;
__device__ unsigned long long g_best;

// Thread 0 gets it.
__device__ float block_sum(float value) {
  __shared__ float s_sums[kBlock / kWarp];
  for (unsigned offset = kWarp / 2; offset > 0; offset /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x % kWarp == 0) s_sums[threadIdx.x / kWarp] = value;
  __syncthreads();
  float sum = 0.0f;
  if (threadIdx.x == 0) {
    for (const float part : s_sums) sum += part;
  }
  return sum;
}

enum class Fences { both, release_alone, none };

template <Fences kFences>
__global__ void last_block_kernel(const float* g_in, float* g_out) {
  __shared__ bool s_is_last;
  const unsigned t = threadIdx.x;
  const float sum = block_sum(g_in[blockIdx.x * blockDim.x + t]);
  if (t == 0) {
    g_partials[blockIdx.x] = sum;
    if constexpr (kFences != Fences::none) __threadfence();
    s_is_last = atomicInc(&g_ticket, gridDim.x - 1) == gridDim.x - 1;
    if constexpr (kFences == Fences::both) __threadfence();
  }
  __syncthreads();
  if (!s_is_last) return;
  float total = 0.0f;
  if constexpr (kFences == Fences::none) {
    for (unsigned b = 0; b < gridDim.x; ++b) total += g_partials[b];  // BUG ticket_without_fences
  } else {
    for (unsigned b = 0; b < gridDim.x; ++b) total += g_partials[b];  // BUG ticket_without_acquire
  }
  for (unsigned at = t; at < kElements; at += blockDim.x) g_out[at] = total;
}

// The fence is the thread's that took the ticket, the values are its warp's: all threads store, and one fences.
__global__ void fence_of_one_thread_kernel(const float* g_in, float* g_out) {
  __shared__ bool s_is_last;
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  g_out[i] = 2.0f * g_in[i];  // BUG fence_before_barrier
  if (t == 0) {
    __threadfence();
    s_is_last = atomicInc(&g_ticket, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!s_is_last) return;
  for (unsigned at = t; at < kElements; at += blockDim.x) g_out[at] += 1.0f;
}

template <bool kSynchronises>
__global__ void grid_sum_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float sum = block_sum(g_in[i]);
  if (threadIdx.x == 0) g_partials[blockIdx.x] = sum;
  if constexpr (kSynchronises) cg::this_grid().sync();
  float total = 0.0f;
  for (unsigned b = 0; b < gridDim.x; ++b) total += g_partials[b];  // BUG grid_sum_without_barrier
  g_out[i] = total;
}

template <bool kSynchronises>
Status run_grid_sum(StreamRef stream, const float* g_in, float* g_out) {
  const LaunchConfig config{
      .grid = dim3(kGrid), .block = dim3(kBlock), .stream = stream, .cooperative = true};
  return launch(grid_sum_kernel<kSynchronises>, config, g_in, g_out);
}

__host__ __device__ inline float shuffled(float value) {
  return static_cast<float>((static_cast<int>(value) * 1103) % 1021);
}

// Floats that are not negative are ordered as their bits are; of equal ones the first wins.
__global__ void best_kernel(const float* g_in, float*) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned bits = __float_as_uint(shuffled(g_in[i]));
  atomicMax(&g_best, static_cast<unsigned long long>(bits) << 32 | (0xffffffffu - i));
}
__global__ void no_best_kernel(const float*, float*) {
  if (blockIdx.x == 0 && threadIdx.x == 0) g_best = 0;
}
__global__ void from_best_kernel(const float*, float* g_out) {
  const unsigned best = 0xffffffffu - static_cast<unsigned>(g_best & 0xffffffffu);
  g_out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<float>(best);
}

void total(const float* in, float* out) {
  float sum = 0.0f;
  for (int i = 0; i < kElements; ++i) sum += in[i];
  for (int i = 0; i < kElements; ++i) out[i] = sum;
}

void index_of_best(const float* in, float* out) {
  int best = 0;
  for (int i = 1; i < kElements; ++i) {
    if (shuffled(in[i]) > shuffled(in[best])) best = i;
  }
  for (int i = 0; i < kElements; ++i) out[i] = static_cast<float>(best);
}

const Kernel kKernels[] = {
    {"last_block", run<kGrid, kBlock, last_block_kernel<Fences::both>>, total},
    {"ticket_without_acquire", run<kGrid, kBlock, last_block_kernel<Fences::release_alone>>, nullptr, "race"},
    {"ticket_without_fences", run<kGrid, kBlock, last_block_kernel<Fences::none>>, nullptr, "race"},
    {"fence_before_barrier", run<kGrid, kBlock, fence_of_one_thread_kernel>, nullptr, "race"},
    {"grid_sum", run_grid_sum<true>, total},
    {"grid_sum_without_barrier", run_grid_sum<false>, nullptr, "race"},
    {"packed_maximum", run<kGrid, kBlock, no_best_kernel, best_kernel, from_best_kernel>, index_of_best},
};

}  // namespace

std::span<const Kernel> ticket_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
