// Softmax of rows, to the base of 2 and of small integers: all values and sums are exact.
#include "rooftile/device/target.h"

#include <cmath>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr unsigned kBlock = 256;
constexpr unsigned kGrid = kElements / kBlock;
constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = kBlock / kWarp;
constexpr unsigned kAllLanes = 0xffffffffu;

__host__ __device__ inline float logit(float value) {
  return static_cast<float>((static_cast<int>(value) * 37) % 13);
}

__device__ float warp_max(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
  }
  return value;
}
__device__ float warp_sum(float value) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(kAllLanes, value, offset);
  return value;
}

// A row per block. One array serves the maxima of the warps and their sums.
template <bool kSynchronises>
__global__ void softmax_kernel(const float* g_in, float* g_out) {
  __shared__ float s_warps[kWarps];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const float x = logit(g_in[i]);
  const float of_warp = warp_max(x);
  if (lane == 0) s_warps[warp] = of_warp;
  __syncthreads();
  float maximum = s_warps[0];
  for (unsigned w = 1; w < kWarps; ++w) maximum = fmaxf(maximum, s_warps[w]);
  if constexpr (kSynchronises) __syncthreads();  // all have read the maxima
  const float power = exp2f(x - maximum);
  const float part = warp_sum(power);
  if (lane == 0) s_warps[warp] = part;  // BUG softmax_reuses_array
  __syncthreads();
  float sum = 0.0f;
  for (unsigned w = 0; w < kWarps; ++w) sum += s_warps[w];
  g_out[i] = power / sum;
}

// A block for several rows: one warp finds a row's maximum, all read it, and it finds the next.
template <bool kSynchronises>
__global__ void softmax_of_rows_kernel(const float* g_in, float* g_out) {
  __shared__ float s_maximum;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  for (unsigned row = blockIdx.x; row < kElements / kBlock; row += gridDim.x) {
    const float* g_row = g_in + row * kBlock;
    if (warp == 0) {
      float maximum = logit(g_row[lane]);
      for (unsigned j = lane + kWarp; j < kBlock; j += kWarp) maximum = fmaxf(maximum, logit(g_row[j]));
      maximum = warp_max(maximum);
      if (lane == 0) s_maximum = maximum;  // BUG softmax_rewrites_maximum
    }
    __syncthreads();
    float sum = 0.0f;
    for (unsigned j = lane; j < kBlock; j += kWarp) sum += exp2f(logit(g_row[j]) - s_maximum);
    sum = warp_sum(sum);
    g_out[row * kBlock + threadIdx.x] = exp2f(logit(g_row[threadIdx.x]) - s_maximum) / sum;
    if constexpr (kSynchronises) __syncthreads();
  }
}

struct Partial {
  float maximum, sum;
};

__device__ Partial merged(const Partial& a, const Partial& b) {
  const float maximum = fmaxf(a.maximum, b.maximum);  // BUG online_softmax_merges_too_many
  return {maximum, a.sum * exp2f(a.maximum - maximum) + b.sum * exp2f(b.maximum - maximum)};
}

__device__ Partial warp_merged(Partial mine) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const Partial other = {__shfl_xor_sync(kAllLanes, mine.maximum, offset),
                           __shfl_xor_sync(kAllLanes, mine.sum, offset)};
    mine = merged(mine, other);
  }
  return mine;
}

// One pass: maximum and sum together, the sum raised wherever a larger maximum comes. Rows of 1024.
template <bool kBounded>
__global__ void online_softmax_kernel(const float* g_in, float* g_out) {
  constexpr unsigned kRow = 1024;
  __shared__ Partial s_warps[kWarp];
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const float* g_row = g_in + blockIdx.x * kRow;
  Partial mine = {-1000.0f, 0.0f};
  for (unsigned j = threadIdx.x; j < kRow; j += kBlock) mine = merged(mine, {logit(g_row[j]), 1.0f});
  mine = warp_merged(mine);
  if (lane == 0) s_warps[warp] = mine;
  __syncthreads();
  Partial all = s_warps[0];
  if constexpr (kBounded) {
    for (unsigned w = 1; w < kWarps; ++w) all = merged(all, s_warps[w]);
  } else {
    for (unsigned w = 1; w < kWarp; ++w) all = merged(all, s_warps[w]);
  }
  for (unsigned j = threadIdx.x; j < kRow; j += kBlock) {
    g_out[blockIdx.x * kRow + j] = exp2f(logit(g_row[j]) - all.maximum) / all.sum;
  }
}

template <int kRow>
void softmax(const float* in, float* out) {
  for (int start = 0; start < kElements; start += kRow) {
    float maximum = 0.0f;
    for (int i = start; i < start + kRow; ++i) maximum = std::fmax(maximum, logit(in[i]));
    float sum = 0.0f;
    for (int i = start; i < start + kRow; ++i) sum += std::exp2(logit(in[i]) - maximum);
    for (int i = start; i < start + kRow; ++i) out[i] = std::exp2(logit(in[i]) - maximum) / sum;
  }
}

const Kernel kKernels[] = {
    {"softmax", run<kGrid, kBlock, softmax_kernel<true>>, softmax<kBlock>},
    {"softmax_reuses_array", run<kGrid, kBlock, softmax_kernel<false>>, nullptr, "race"},
    {"softmax_of_rows", run<kGrid / 4, kBlock, softmax_of_rows_kernel<true>>, softmax<kBlock>},
    {"softmax_rewrites_maximum", run<kGrid / 4, kBlock, softmax_of_rows_kernel<false>>, nullptr, "race"},
    {"online_softmax", run<4, kBlock, online_softmax_kernel<true>>, softmax<1024>},
    {"online_softmax_merges_too_many", run<4, kBlock, online_softmax_kernel<false>>, nullptr,
     "uninitialised"},
};

}  // namespace

std::span<const Kernel> softmax_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
