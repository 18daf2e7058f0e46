// Normalisation of rows.
#include "rooftile/device/target.h"

#include <cmath>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr unsigned kBlock = 128;
constexpr unsigned kWarp = 32;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr unsigned kRow = 128;
constexpr unsigned kRowsPerBlock = kBlock / kWarp;
constexpr unsigned kGrid = kElements / kRow / kRowsPerBlock;
constexpr float kEpsilon = 1e-5f;

static __constant__ float c_scale = 0.5f;

// Welford: mean and squared differences from it, of how many.
struct Moments {
  float count, mean, squares;
};

__device__ Moments merged(const Moments& a, const Moments& b) {
  const float count = a.count + b.count;
  const float difference = b.mean - a.mean;
  return {count, a.mean + difference * b.count / count,
          a.squares + b.squares + difference * difference * a.count * b.count / count};
}

// A warp per row.
__global__ void layer_norm_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned row = blockIdx.x * kRowsPerBlock + threadIdx.x / kWarp;
  const float* g_row = g_in + row * kRow;
  Moments mine = {1.0f, g_row[lane], 0.0f};
  for (unsigned j = lane + kWarp; j < kRow; j += kWarp) mine = merged(mine, {1.0f, g_row[j], 0.0f});
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    mine = merged(
        mine, {__shfl_xor_sync(kAllLanes, mine.count, offset), __shfl_xor_sync(kAllLanes, mine.mean, offset),
               __shfl_xor_sync(kAllLanes, mine.squares, offset)});
  }
  const float factor = rsqrtf(mine.squares / kRow + kEpsilon) * c_scale;
  for (unsigned j = lane; j < kRow; j += kWarp) g_out[row * kRow + j] = (g_row[j] - mine.mean) * factor;
}

// A block per row, its warps' moments merged by the first of them.
__global__ void layer_norm_by_block_kernel(const float* g_in, float* g_out) {
  __shared__ Moments s_warps[kBlock / kWarp];
  __shared__ float s_mean, s_factor;
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned warp = threadIdx.x / kWarp;
  const float x = g_in[blockIdx.x * kRow + threadIdx.x];
  Moments mine = {1.0f, x, 0.0f};
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    mine = merged(
        mine, {__shfl_xor_sync(kAllLanes, mine.count, offset), __shfl_xor_sync(kAllLanes, mine.mean, offset),
               __shfl_xor_sync(kAllLanes, mine.squares, offset)});
  }
  if (lane == 0) s_warps[warp] = mine;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned w = 1; w < kBlock / kWarp; ++w) mine = merged(mine, s_warps[w]);
    s_mean = mine.mean;
    s_factor = rsqrtf(mine.squares / kRow + kEpsilon) * c_scale;
  }
  __syncthreads();
  g_out[blockIdx.x * kRow + threadIdx.x] = (x - s_mean) * s_factor;
}

__global__ void rms_norm_kernel(const float* __restrict__ g_in, float* __restrict__ g_out) {
  static_assert(kRow == 4 * kWarp);
  const unsigned lane = threadIdx.x % kWarp;
  const unsigned row = blockIdx.x * kRowsPerBlock + threadIdx.x / kWarp;
  const float4 x = reinterpret_cast<const float4*>(g_in + row * kRow)[lane];
  float squares = x.x * x.x + x.y * x.y + x.z * x.z + x.w * x.w;
  for (int offset = kWarp / 2; offset > 0; offset /= 2)
    squares += __shfl_xor_sync(kAllLanes, squares, offset);
  const float factor = rsqrtf(squares / kRow + kEpsilon) * c_scale;
  reinterpret_cast<float4*>(g_out + row * kRow)[lane] =
      make_float4(x.x * factor, x.y * factor, x.z * factor, x.w * factor);
}

template <bool kCentred>
void norm(const float* in, float* out) {
  for (unsigned start = 0; start < kElements; start += kRow) {
    double mean = 0.0;
    for (unsigned j = 0; kCentred && j < kRow; ++j) mean += in[start + j] / double{kRow};
    double squares = 0.0;
    for (unsigned j = 0; j < kRow; ++j) squares += (in[start + j] - mean) * (in[start + j] - mean);
    const double factor = 0.5 / std::sqrt(squares / kRow + kEpsilon);
    for (unsigned j = 0; j < kRow; ++j) out[start + j] = static_cast<float>((in[start + j] - mean) * factor);
  }
}

constexpr float kTolerance = 1e-4f;
// Four values per lane: the row comes and goes in 16 sectors for each.
constexpr unsigned kSectors = 2 * kElements / 8;

const Kernel kKernels[] = {
    {.name = "layer_norm",
     .run = run<kGrid, kBlock, layer_norm_kernel>,
     .expected = norm<true>,
     .tolerance = kTolerance},
    {.name = "layer_norm_by_block",
     .run = run<kElements / kRow, kBlock, layer_norm_by_block_kernel>,
     .expected = norm<true>,
     .tolerance = kTolerance},
    {.name = "rms_norm",
     .run = run<kGrid, kBlock, rms_norm_kernel>,
     .expected = norm<false>,
     .sectors = kSectors,
     .tolerance = kTolerance},
};

}  // namespace

std::span<const Kernel> norm_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
