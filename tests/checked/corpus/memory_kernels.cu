// Where a kernel's data lies: shared arrays of all kinds, variables of the device, what functions return.
#include "rooftile/device/target.h"

#include <cuda_fp16.h>

#include "rooftile/device/launch.h"
#include "tests/checked/corpus/corpus.h"

namespace rooftile::ROOFTILE_TARGET::corpus {

// Its symbols name no namespace.
extern "C" __global__ void c_linkage_kernel(const float* g_in, float* g_out, bool synchronise) {
  __shared__ float s_tile[256];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  s_tile[threadIdx.x] = g_in[i];
  if (synchronise) __syncthreads();
  g_out[i] = s_tile[255 - threadIdx.x];  // BUG c_linkage_race
}

namespace {

constexpr int kBlock = 256;

LaunchConfig whole(StreamRef stream) {
  return {.grid = dim3(kElements / kBlock), .block = dim3(kBlock), .stream = stream};
}

void reversed_blocks(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = in[i - i % kBlock + kBlock - 1 - i % kBlock];
}

// Types that are constructed: halves, and a struct with a constructor that does nothing.
struct Pair {
  float low, high;
  __device__ Pair() {}
};

__global__ void constructed_kernel(const float* g_in, float* g_out) {
  __shared__ __half s_half[kBlock];
  __shared__ Pair s_pair[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_half[t] = __float2half(0.0f);
  s_pair[t].low = g_in[i];
  s_pair[t].high = -g_in[i];
  __syncthreads();
  g_out[i] = s_pair[kBlock - 1 - t].low + __half2float(s_half[kBlock - 1 - t]);
}

// Structs that functions return into shared memory: small ones come in registers, large ones are written in place.
struct Moments {
  float count, sum;
};
struct Powers {
  float x, squared, cubed, fourth, fifth;
};

__device__ __noinline__ Moments moments_of(float x) { return {1.0f, x}; }
__device__ __noinline__ Powers powers_of(float x) { return {x, x * x, x * x * x, 0.0f, 0.0f}; }

__global__ void returned_struct_kernel(const float* g_in, float* g_out) {
  __shared__ Moments s_moments[kBlock];
  __shared__ Powers s_powers[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_moments[t] = moments_of(g_in[i]);
  s_powers[t] = powers_of(g_in[i]);
  __syncthreads();
  const unsigned other = kBlock - 1 - t;
  g_out[i] = s_moments[other].sum * s_moments[other].count + s_powers[other].fourth;
}

__global__ void returned_struct_race_kernel(const float* g_in, float* g_out) {
  __shared__ Moments s_moments[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_moments[t] = moments_of(g_in[i]);
  g_out[i] = s_moments[kBlock - 1 - t].sum;  // BUG returned_struct_race
}

// A struct with padding, written member by member and copied whole; and one whose second half nobody has written.
struct Ranked {
  float value;
  long long rank;
};
struct Quad {
  float a, b, c, d;
};

__global__ void padded_struct_kernel(const float* g_in, float* g_out) {
  __shared__ Ranked s_ranked[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_ranked[t].value = g_in[i];
  s_ranked[t].rank = t;
  __syncthreads();
  const Ranked other = s_ranked[kBlock - 1 - t];
  g_out[i] = other.rank == kBlock - 1 - t ? other.value : -1.0f;
}

__global__ void half_a_struct_kernel(const float* g_in, float* g_out) {
  __shared__ Quad s_quad[kBlock], s_copy[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_quad[t].a = g_in[i];
  s_quad[t].b = g_in[i];
  __syncthreads();
  s_copy[t] = s_quad[t ^ 1];  // BUG half_a_struct
  g_out[i] = s_copy[t].a;
}

__device__ int g_counter;
__device__ float g_table[kElements];
static __constant__ float c_scale[2] = {1.0f, 2.0f};

__global__ void table_kernel(const float* g_in) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  g_table[i] = g_in[i] * c_scale[1];
}

__global__ void from_table_kernel(float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  g_out[i] = g_table[i] * 0.5f * c_scale[0];
}

__global__ void counter_race_kernel(float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  g_counter = g_counter + 1;  // BUG device_variable_race
  g_out[i] = 0.0f;
}

// Dynamic shared memory as CUDA writes it, and static shared memory behind `static`, and before `alignas`.
__global__ void extern_shared_kernel(const float* g_in, float* g_out) {
  extern __shared__ float s_dynamic[];
  static __shared__ float s_static[kBlock];
  __shared__ alignas(16) float s_aligned[kBlock];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_dynamic[t] = g_in[i];
  __syncthreads();
  s_static[t] = s_dynamic[kBlock - 1 - t];
  s_aligned[t] = s_static[t];
  g_out[i] = s_aligned[t];
}

__global__ void extern_shared_race_kernel(const float* g_in, float* g_out) {
  extern __shared__ float s_dynamic[];
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  s_dynamic[t] = g_in[i];
  g_out[i] = s_dynamic[kBlock - 1 - t];  // BUG extern_shared_race
}

LaunchConfig with_dynamic(StreamRef stream) {
  LaunchConfig config = whole(stream);
  config.shared_bytes = kBlock * sizeof(float);
  return config;
}

void copied(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = in[i];
}

const Kernel kKernels[] = {
    {"c_linkage",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(c_linkage_kernel, whole(stream), g_in, g_out, true);
     },
     reversed_blocks},
    {"c_linkage_race",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(c_linkage_kernel, whole(stream), g_in, g_out, false);
     },
     nullptr, "race"},
    {"constructed",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(constructed_kernel, whole(stream), g_in, g_out);
     },
     reversed_blocks},
    {"returned_struct",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(returned_struct_kernel, whole(stream), g_in, g_out);
     },
     reversed_blocks},
    {"returned_struct_race",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(returned_struct_race_kernel, whole(stream), g_in, g_out);
     },
     nullptr, "race"},
    {"padded_struct",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(padded_struct_kernel, whole(stream), g_in, g_out);
     },
     reversed_blocks},
    {"half_a_struct",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(half_a_struct_kernel, whole(stream), g_in, g_out);
     },
     nullptr, "uninitialised"},
    {"device_variables",
     [](StreamRef stream, const float* g_in, float* g_out) {
       ROOFTILE_TRY(launch(table_kernel, whole(stream), g_in));
       return launch(from_table_kernel, whole(stream), g_out);
     },
     copied},
    {"device_variable_race",
     [](StreamRef stream, const float*, float* g_out) {
       return launch(counter_race_kernel, whole(stream), g_out);
     },
     nullptr, "race"},
    {"extern_shared",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(extern_shared_kernel, with_dynamic(stream), g_in, g_out);
     },
     reversed_blocks},
    {"extern_shared_race",
     [](StreamRef stream, const float* g_in, float* g_out) {
       return launch(extern_shared_race_kernel, with_dynamic(stream), g_in, g_out);
     },
     nullptr, "race"},
};

}  // namespace

std::span<const Kernel> memory_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
