// Counting, sorting, and picking.
#include "rooftile/device/target.h"

#include <cooperative_groups.h>

#include <algorithm>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kBlock = 256;
constexpr unsigned kGrid = kElements / kBlock;

__host__ __device__ inline unsigned key_of(float value) {
  return static_cast<unsigned>(value) * 1103u % 4096u;
}

// A bin per thread; each block counts its own values.
template <bool kAtomic>
__global__ void histogram_kernel(const float* g_in, float* g_out) {
  __shared__ unsigned s_bins[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_bins[t] = 0;
  __syncthreads();
  const unsigned bin = key_of(g_in[i]) % 61;
  if constexpr (kAtomic) {
    atomicAdd(&s_bins[bin], 1u);
  } else {
    s_bins[bin] += 1;  // BUG histogram_without_atomics
  }
  __syncthreads();
  g_out[i] = static_cast<float>(s_bins[t]);
}

template <bool kSynchronises>
__global__ void bitonic_sort_kernel(const float* g_in, float* g_out) {
  constexpr unsigned kKeys = 2 * kBlock;
  __shared__ unsigned s_keys[kKeys];
  const unsigned t = threadIdx.x;
  const unsigned first = blockIdx.x * kKeys;
  for (unsigned at = t; at < kKeys; at += kBlock) s_keys[at] = key_of(g_in[first + at]);
  for (unsigned size = 2; size <= kKeys; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      // What follows is within a warp where the stride is small, and lockstep was once all that it took.
      if (kSynchronises || stride >= 32) __syncthreads();
      const unsigned low = 2 * t - (t & (stride - 1));
      const bool ascends = (low & size) == 0;
      const unsigned a = s_keys[low];
      const unsigned b = s_keys[low + stride];
      if ((a > b) == ascends) {
        s_keys[low] = b;  // BUG sort_in_lockstep
        s_keys[low + stride] = a;
      }
    }
  }
  __syncthreads();
  for (unsigned at = t; at < kKeys; at += kBlock) g_out[first + at] = static_cast<float>(s_keys[at]);
}

__device__ unsigned g_count;
__device__ float g_picked[kElements];

__global__ void none_picked_kernel(const float*, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) g_count = 0;
  g_out[i] = 0.0f;
}

// A place for each value that is picked, one atomic for the lanes of a warp that are there.
__global__ void pick_kernel(const float* g_in, float*) {
  const float value = g_in[blockIdx.x * blockDim.x + threadIdx.x];
  if (key_of(value) % 3 == 0) {
    const auto picking = cg::coalesced_threads();
    unsigned base = 0;
    if (picking.thread_rank() == 0) base = atomicAdd(&g_count, picking.size());
    g_picked[picking.shfl(base, 0) + picking.thread_rank()] = value;
  }
}

// The places are taken in any order: the picked ones mark themselves.
__global__ void mark_picked_kernel(const float*, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g_count) g_out[static_cast<unsigned>(g_picked[i]) - 1] = 1.0f;
}

void counted(const float* in, float* out) {
  std::fill(out, out + kElements, 0.0f);
  for (unsigned i = 0; i < kElements; ++i) out[i - i % kBlock + key_of(in[i]) % 61] += 1.0f;
}

void sorted(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = static_cast<float>(key_of(in[i]));
  for (unsigned i = 0; i < kElements; i += 2 * kBlock) std::sort(out + i, out + i + 2 * kBlock);
}

void picked(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = key_of(in[i]) % 3 == 0 ? 1.0f : 0.0f;
}

const Kernel kKernels[] = {
    {"histogram", run<kGrid, kBlock, histogram_kernel<true>>, counted},
    {"histogram_without_atomics", run<kGrid, kBlock, histogram_kernel<false>>, nullptr, "race"},
    {"bitonic_sort", run<kGrid / 2, kBlock, bitonic_sort_kernel<true>>, sorted},
    {"sort_in_lockstep", run<kGrid / 2, kBlock, bitonic_sort_kernel<false>>, nullptr, "race"},
    {"compaction", run<kGrid, kBlock, none_picked_kernel, pick_kernel, mark_picked_kernel>, picked},
};

}  // namespace

std::span<const Kernel> order_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
