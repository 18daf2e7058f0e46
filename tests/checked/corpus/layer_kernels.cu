// What stands between the products of a network: rotations, activations, dropout, embeddings.
#include "rooftile/device/target.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kPairs = kElements / 2;

// 64 positions of 32 pairs, each pair turned by an angle of its own.
constexpr unsigned kPairsPerPosition = 32;

__host__ __device__ inline float angle(unsigned pair) {
  const unsigned position = pair / kPairsPerPosition;
  return static_cast<float>(position) * exp2f(-static_cast<float>(pair % kPairsPerPosition) / 4.0f);
}
__host__ __device__ inline float activation(float value) {
  return static_cast<float>(static_cast<int>(value) % 9 - 4);
}

__device__ __half2 g_rotated[kPairs];

__global__ void rotary_kernel(const float* g_in, float*) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 in = reinterpret_cast<const float2*>(g_in)[i];
  const __half2 pair = __floats2half2_rn(activation(in.x), activation(in.y));
  float sine, cosine;
  sincosf(angle(i), &sine, &cosine);
  const __half2 across = __halves2half2(__hneg(__high2half(pair)), __low2half(pair));
  g_rotated[i] = __hfma2(pair, __float2half2_rn(cosine), __hmul2(across, __float2half2_rn(sine)));
}
__global__ void widened_kernel(const float*, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  reinterpret_cast<float2*>(g_out)[i] = __half22float2(g_rotated[i]);
}

void rotary(const float* in, float* out) {
  for (unsigned i = 0; i < kPairs; ++i) {
    const double a = angle(i);
    const double x = activation(in[2 * i]);
    const double y = activation(in[2 * i + 1]);
    out[2 * i] = static_cast<float>(x * std::cos(a) - y * std::sin(a));
    out[2 * i + 1] = static_cast<float>(y * std::cos(a) + x * std::sin(a));
  }
}

__global__ void gelu_kernel(const float* g_in, float* g_out) {
  __shared__ __nv_bfloat162 s_pairs[kBlock];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float2 in = reinterpret_cast<const float2*>(g_in)[i];
  s_pairs[threadIdx.x] = __floats2bfloat162_rn((in.x - 2048.0f) / 512.0f, (in.y - 2048.0f) / 512.0f);
  const __nv_bfloat162 x = s_pairs[threadIdx.x];
  const auto gelu = [](float value) {
    return 0.5f * value * (1.0f + tanhf(0.7978845608f * (value + 0.044715f * value * value * value)));
  };
  const __nv_bfloat162 y = __floats2bfloat162_rn(gelu(__low2float(x)), gelu(__high2float(x)));
  reinterpret_cast<float2*>(g_out)[i] = __bfloat1622float2(y);
}

void gelu(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) {
    const double x = (in[i] - 2048.0) / 512.0;
    out[i] = static_cast<float>(0.5 * x * (1.0 + std::erf(x / std::sqrt(2.0))));
  }
}

// A number for each element and seed, whatever thread asks.
__host__ __device__ inline unsigned hashed(unsigned counter, unsigned seed) {
  unsigned h = counter * 0x9e3779b1u + seed;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}
constexpr unsigned kSeed = 2024;

__global__ void dropout_kernel(const float* g_in, float* g_out) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < kElements; i += gridDim.x * blockDim.x) {
    g_out[i] = hashed(i, kSeed) % 4 != 0 ? g_in[i] * 4.0f / 3.0f : 0.0f;
  }
}

void dropout(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = hashed(i, kSeed) % 4 != 0 ? in[i] * 4.0f / 3.0f : 0.0f;
}

// 128 tokens of a vocabulary of 32, vectors of 32.
constexpr unsigned kWords = 32;
constexpr unsigned kDepth = 32;

__host__ __device__ inline unsigned word_of(float value) {
  return static_cast<unsigned>(value) * 7u % (kWords - 3);
}

__device__ float g_gradient[kWords * kDepth];

__global__ void embedding_kernel(const float* g_in, float* g_out) {
  const unsigned token = blockIdx.x * (kBlock / kDepth) + threadIdx.x / kDepth;
  const unsigned d = threadIdx.x % kDepth;
  g_out[token * kDepth + d] = g_in[word_of(g_in[token]) * kDepth + d];
}

__global__ void no_gradient_kernel(const float*, float*) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWords * kDepth) g_gradient[i] = 0.0f;
}
template <bool kAtomic>
__global__ void embedding_backward_kernel(const float* g_in, float*) {
  const unsigned token = blockIdx.x * (kBlock / kDepth) + threadIdx.x / kDepth;
  const unsigned d = threadIdx.x % kDepth;
  float* gradient = &g_gradient[word_of(g_in[token]) * kDepth + d];
  if constexpr (kAtomic) {
    atomicAdd(gradient, g_in[token * kDepth + d]);
  } else {
    *gradient += g_in[token * kDepth + d];  // BUG gradient_without_atomics
  }
}
__global__ void from_gradient_kernel(const float*, float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  g_out[i] = g_gradient[i % (kWords * kDepth)];
}

void embedding(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = in[word_of(in[i / kDepth]) * kDepth + i % kDepth];
}
void gradient(const float* in, float* out) {
  std::fill(out, out + kElements, 0.0f);
  for (unsigned i = 0; i < kElements; ++i) out[word_of(in[i / kDepth]) * kDepth + i % kDepth] += in[i];
  for (unsigned i = kWords * kDepth; i < kElements; ++i) out[i] = out[i - kWords * kDepth];
}

constexpr unsigned kGrid = kElements / kBlock;
template <bool kAtomic>
constexpr auto kRunBackward =
    run<kGrid, kBlock, no_gradient_kernel, embedding_backward_kernel<kAtomic>, from_gradient_kernel>;

const Kernel kKernels[] = {
    {.name = "rotary",
     .run = run<kPairs / kBlock, kBlock, rotary_kernel, widened_kernel>,
     .expected = rotary,
     .tolerance = 4e-3f},
    {.name = "gelu", .run = run<kPairs / kBlock, kBlock, gelu_kernel>, .expected = gelu, .tolerance = 1e-2f},
    {"dropout", run<4, kBlock, dropout_kernel>, dropout},
    {"embedding", run<kGrid, kBlock, embedding_kernel>, embedding},
    {"embedding_backward", kRunBackward<true>, gradient},
    {"gradient_without_atomics", kRunBackward<false>, nullptr, "race"},
};

}  // namespace

std::span<const Kernel> layer_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
