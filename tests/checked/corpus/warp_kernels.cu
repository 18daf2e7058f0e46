// What the lanes of a warp do together, as older and newer CUDA writes it.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/corpus/corpus.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr int kBlock = 128;
constexpr int kWarp = 32;

LaunchConfig whole(StreamRef stream) {
  return {.grid = dim3(kElements / kBlock), .block = dim3(kBlock), .stream = stream};
}

// The lanes of a branch sum their values, whoever they are.
__global__ void sum_of_active_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % kWarp;
  float sum = 0.0f;
  if (lane % 3 == 1) {
    const unsigned mask = __activemask();
    for (unsigned left = mask; left != 0; left &= left - 1) {
      sum += __shfl_sync(mask, g_in[i], __ffs(static_cast<int>(left)) - 1);
    }
  }
  g_out[i] = sum;
}

void sums_of_active(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) {
    out[i] = 0.0f;
    if (i % kWarp % 3 != 1) continue;
    for (int lane = 1; lane < kWarp; lane += 3) out[i] += in[i - i % kWarp + lane];
  }
}

__device__ unsigned g_count;

// One atomic of the first active lane for all of them (Adinets's aggregation): places without gaps.
__global__ void aggregated_kernel(const float* g_in, float* g_out) {
  const unsigned i = threadIdx.x;
  if (i == 0) g_count = 0;
  __syncthreads();
  for (unsigned at = i; at < kElements; at += blockDim.x) {
    g_out[at] = 0.0f;
    if (static_cast<int>(g_in[at]) % 2 == 0) {
      const unsigned mask = __activemask();
      const unsigned lane = threadIdx.x % kWarp;
      const int leader = __ffs(static_cast<int>(mask)) - 1;
      unsigned base = 0;
      if (static_cast<int>(lane) == leader) base = atomicAdd(&g_count, static_cast<unsigned>(__popc(mask)));
      base = __shfl_sync(mask, base, leader);
      const unsigned place = base + static_cast<unsigned>(__popc(mask & ((1u << lane) - 1)));
      g_out[at] = place < kElements / 2 ? 1.0f : -1.0f;
    }
  }
}

void evens(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = static_cast<int>(in[i]) % 2 == 0 ? 1.0f : 0.0f;
}

// Volta ended the lockstep that such sums relied upon.
__global__ void implicit_lockstep_kernel(const float* g_in, float* g_out) {
  __shared__ volatile float s_values[kBlock];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned t = threadIdx.x;
  s_values[t] = g_in[i];
  __syncthreads();
  if (t < kWarp) {
    for (unsigned offset = kWarp / 2; offset > 0; offset /= 2) {
      s_values[t] = s_values[t] + s_values[t + offset];  // BUG implicit_lockstep
    }
  }
  g_out[i] = 0.0f;
}

const Kernel kKernels[] = {
    {"sum_of_active",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(sum_of_active_kernel, whole(stream), g_in, g_out);
     },
     sums_of_active},
    {"aggregated",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(aggregated_kernel, {.block = dim3(kBlock), .stream = stream}, g_in, g_out);
     },
     evens},
    {"implicit_lockstep",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(implicit_lockstep_kernel, whole(stream), g_in, g_out);
     },
     nullptr, "race"},
};

}  // namespace

std::span<const Kernel> warp_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
