// Stores that nothing orders.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/corpus/corpus.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr int kBlock = 64;
constexpr int kWarp = 32;

LaunchConfig whole(StreamRef stream) {
  return {.grid = dim3(kElements / kBlock), .block = dim3(kBlock), .stream = stream};
}

__global__ void raised_flag_kernel(const float* g_in, float* g_out) {
  __shared__ int s_found;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  s_found = 0;  // SAME VALUE raised_flag
  __syncthreads();
  if (g_in[i] > 100.0f) s_found = 1;  // SAME VALUE raised_flag
  __syncthreads();
  g_out[i] = static_cast<float>(s_found);
}

void flags(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = in[i - i % kBlock + kBlock - 1] > 100.0f ? 1.0f : 0.0f;
}

// A warp's sum, which each of its lanes stores.
__global__ void stored_by_all_lanes_kernel(const float* g_in, float* g_out) {
  __shared__ float s_sums[kBlock / kWarp];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = g_in[i];
  for (int offset = kWarp / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  s_sums[threadIdx.x / kWarp] = sum;  // SAME VALUE stored_by_all_lanes
  __syncthreads();
  g_out[i] = s_sums[0] + s_sums[1];
}

void block_sums(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) {
    out[i] = 0.0f;
    for (int j = 0; j < kBlock; ++j) out[i] += in[i - i % kBlock + j];
  }
}

// All blocks store one value to one place of global memory.
__global__ void global_flag_kernel(float* g_out) {
  g_out[0] = 1.0f;  // SAME VALUE global_flag
}

__global__ void different_values_kernel(const float* g_in, float* g_out) {
  __shared__ float s_last;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  s_last = g_in[i];  // BUG different_values
  __syncthreads();
  g_out[i] = 0.0f * s_last;
}

__global__ void global_different_values_kernel(const float* g_in, float* g_out) {
  g_out[0] = g_in[blockIdx.x];  // BUG global_different_values
}

// The same, but for one thread of many.
__global__ void one_differs_kernel(float* g_out) {
  __shared__ int s_value;
  s_value = threadIdx.x == 37 ? 2 : 1;  // BUG one_differs
  __syncthreads();
  g_out[blockIdx.x * blockDim.x + threadIdx.x] = 0.0f * static_cast<float>(s_value);
}

// Who reads the flag before the barrier may read either.
__global__ void flag_read_early_kernel(const float* g_in, float* g_out) {
  __shared__ int s_found;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  s_found = 0;
  __syncthreads();
  if (g_in[i] > 100.0f) s_found = 1;
  g_out[i] = static_cast<float>(s_found);  // BUG flag_read_early
}

const Kernel kKernels[] = {
    {"raised_flag",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(raised_flag_kernel, whole(stream), g_in, g_out);
     },
     flags},
    {"stored_by_all_lanes",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(stored_by_all_lanes_kernel, whole(stream), g_in, g_out);
     },
     block_sums},
    {"global_flag", [](StreamRef stream, const float*,
                       float* g_out) { return launch(global_flag_kernel, whole(stream), g_out); }},
    {"different_values",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(different_values_kernel, whole(stream), g_in, g_out);
     },
     nullptr, "race"},
    {"global_different_values",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(global_different_values_kernel, whole(stream), g_in, g_out);
     },
     nullptr, "race"},
    {"one_differs",
     [](StreamRef stream, const float*, float* g_out) {
       return launch(one_differs_kernel, whole(stream), g_out);
     },
     nullptr, "race"},
    {"flag_read_early",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(flag_read_early_kernel, whole(stream), g_in, g_out);
     },
     nullptr, "race"},
};

}  // namespace

std::span<const Kernel> store_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
