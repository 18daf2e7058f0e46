// Kernels that do not end, and what only looks like it; local arrays of CUDA's sizes.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/corpus/corpus.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr int kBlock = 64;

LaunchConfig whole(StreamRef stream) {
  return {.grid = dim3(kElements / kBlock), .block = dim3(kBlock), .stream = stream};
}

__global__ void waits_for_nobody_kernel(float* g_out) {
  volatile float* flag = g_out;
  while (*flag != 7.0f) {  // BUG waits_for_nobody
  }
}

__global__ void endless_loop_kernel(const float* g_in, float* g_out) {
  float x = g_in[0];
  while (x < 2.0f) x *= 1.0f;  // BUG endless_loop
  g_out[0] = x;
}

// A thread waits for a later one of its block: threads of a GPU go on by themselves.
__global__ void waits_for_a_later_thread_kernel(float* g_out) {
  __shared__ volatile int s_flag;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) s_flag = 0;
  __syncthreads();
  if (threadIdx.x == 5) {
    while (s_flag == 0) {  // BUG waits_for_a_later_thread
    }
  }
  if (threadIdx.x == 40) s_flag = 1;
  g_out[i] = 3.0f;
}

void threes(const float*, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = 3.0f;
}

// 400 KiB of local memory.
__global__ void large_array_kernel(const float* g_in, float* g_out, int stride) {
  float r_values[100 * 1024];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 100; ++k) r_values[(k * stride) % (100 * 1024)] = g_in[i] + static_cast<float>(k);
  float sum = 0.0f;
  for (int k = 0; k < 100; ++k) sum += r_values[(k * stride) % (100 * 1024)] - static_cast<float>(k);
  g_out[i] = sum / 100.0f;
}

void copied(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = in[i];
}

const Kernel kKernels[] = {
    {"waits_for_nobody",
     [](StreamRef stream, const float*, float* g_out) {
       return launch(waits_for_nobody_kernel, whole(stream), g_out);
     },
     nullptr, "deadlock"},
    {"endless_loop",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(endless_loop_kernel, whole(stream), g_in, g_out);
     },
     nullptr, "deadlock"},
    {"waits_for_a_later_thread",
     [](StreamRef stream, const float*, float* g_out) {
       return launch(waits_for_a_later_thread_kernel, whole(stream), g_out);
     },
     threes, "race"},
    {"large_array",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(large_array_kernel, whole(stream), g_in, g_out, 1021);
     },
     copied},
};

}  // namespace

std::span<const Kernel> ending_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
