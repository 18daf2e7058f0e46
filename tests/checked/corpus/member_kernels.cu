// Members of structs: nvcc joins the accesses of neighbours where the type is aligned for it, and no others.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/corpus/corpus.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr int kBlock = 128;
constexpr int kPoints = kElements / 4;
// A warp's sectors of 32 bytes: where each lane accesses 4 bytes of its own; where it accesses 16.
constexpr unsigned kWarps = kPoints / 32;
constexpr unsigned kNarrow = 4 * kWarps;
constexpr unsigned kWide = 16 * kWarps;

LaunchConfig whole(StreamRef stream) {
  return {.grid = dim3(kPoints / kBlock), .block = dim3(kBlock), .stream = stream};
}

struct __align__(16) Body {
  float x, y, z, mass;
};
struct Loose {
  float x, y, z, mass;
};

__device__ float sum_of(const float4& v) { return v.x + v.y + v.z + v.w; }

__global__ void by_reference_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4& point = reinterpret_cast<const float4*>(g_in)[i];
  g_out[i] = sum_of(point);
}

__global__ void aligned_struct_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Body* body = reinterpret_cast<const Body*>(g_in) + i;
  g_out[i] = body->x + body->y + body->z + body->mass;
}

__global__ void loose_struct_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Loose* body = reinterpret_cast<const Loose*>(g_in) + i;
  g_out[i] = body->x + body->y + body->z + body->mass;
}

__global__ void elements_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  g_out[i] = g_in[4 * i] + g_in[4 * i + 1] + g_in[4 * i + 2] + g_in[4 * i + 3];
}

// Two of the four: eight bytes of every sixteen.
__global__ void two_members_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Body& body = reinterpret_cast<const Body*>(g_in)[i];
  g_out[i] = body.x + body.y;
}

__global__ void stored_members_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float4& point = reinterpret_cast<float4*>(g_out)[i];
  const float value = g_in[i];
  point.x = value;
  point.y = value;
  point.z = value;
  point.w = value;
}

__global__ void misaligned_vector_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 point = reinterpret_cast<const float4*>(g_in + 1)[i / 2];  // BUG misaligned_vector
  g_out[i] = point.x;
}

__global__ void misaligned_scalar_kernel(const float* g_in, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const char* bytes = reinterpret_cast<const char*>(g_in) + 2;
  g_out[i] = reinterpret_cast<const float*>(bytes)[i];  // BUG misaligned_scalar
}

void sums(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) {
    out[i] = i < kPoints ? in[4 * i] + in[4 * i + 1] + in[4 * i + 2] + in[4 * i + 3] : -1.0f;
  }
}

void spread(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = in[i / 4];
}

template <void (*kKernel)(const float*, float*)>
Status run(StreamRef stream, const float* g_in, float* g_out) {
  return launch(kKernel, whole(stream), g_in, g_out);
}

const Kernel kKernels[] = {
    {"member_by_reference", run<by_reference_kernel>, sums, nullptr, kWide + kNarrow},
    {"member_of_aligned_struct", run<aligned_struct_kernel>, sums, nullptr, kWide + kNarrow},
    {"member_of_loose_struct", run<loose_struct_kernel>, sums, nullptr, 4 * kWide + kNarrow},
    {"elements_in_a_row", run<elements_kernel>, sums, nullptr, 4 * kWide + kNarrow},
    {"two_members", run<two_members_kernel>, nullptr, nullptr, kWide + kNarrow},
    {"stored_members", run<stored_members_kernel>, spread, nullptr, kWide + kNarrow},
    {"misaligned_vector", run<misaligned_vector_kernel>, nullptr, "misaligned"},
    {"misaligned_scalar", run<misaligned_scalar_kernel>, nullptr, "misaligned"},
};

}  // namespace

std::span<const Kernel> member_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
