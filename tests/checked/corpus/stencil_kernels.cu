// Convolutions and stencils: each result needs its neighbours' inputs.
#include "rooftile/device/target.h"

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr int kBlock = 256;
constexpr int kRadius = 4;
constexpr int kSide = 64;
constexpr int kTile = 16;
static_assert(kSide * kSide == kElements);

static __constant__ float c_weights[2 * kRadius + 1] = {1, -2, 3, -4, 9, 4, 3, 2, 1};
static __constant__ float c_filter[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};

enum class Halo { both, left_alone, not_awaited };

template <Halo kForm>
__global__ void convolution_kernel(const float* g_in, float* g_out) {
  __shared__ float s_tile[kBlock + 2 * kRadius];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  if constexpr (kForm == Halo::not_awaited) __syncthreads();
  s_tile[t + kRadius] = g_in[i];  // BUG halo_not_awaited
  if (t < kRadius) s_tile[t] = i >= kRadius ? g_in[i - kRadius] : 0.0f;
  if constexpr (kForm != Halo::left_alone) {
    if (t >= kBlock - kRadius) {
      s_tile[t + 2 * kRadius] = i + kRadius < kElements ? g_in[i + kRadius] : 0.0f;
    }
  }
  if constexpr (kForm != Halo::not_awaited) __syncthreads();
  float sum = 0.0f;
  for (int j = 0; j <= 2 * kRadius; ++j) {
    sum += c_weights[j] * s_tile[t + j];  // BUG halo_left_alone
  }
  g_out[i] = sum;
}

// The neighbour of the last element is behind the input.
__global__ void neighbour_behind_kernel(const float* g_in, float* g_out) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  g_out[i] = g_in[i] + g_in[i + 1];  // BUG neighbour_behind
}

__global__ void convolution_2d_kernel(const float* g_in, float* g_out) {
  constexpr int kWide = kTile + 2;
  __shared__ float s_tile[kWide][kWide];
  const int left = static_cast<int>(blockIdx.x) * kTile - 1;
  const int top = static_cast<int>(blockIdx.y) * kTile - 1;
  const int t = static_cast<int>(threadIdx.y) * kTile + static_cast<int>(threadIdx.x);
  for (int at = t; at < kWide * kWide; at += kTile * kTile) {
    const int x = left + at % kWide;
    const int y = top + at / kWide;
    const bool inside = x >= 0 && x < kSide && y >= 0 && y < kSide;
    s_tile[at / kWide][at % kWide] = inside ? g_in[y * kSide + x] : 0.0f;
  }
  __syncthreads();
  float sum = 0.0f;
#pragma unroll
  for (int dy = 0; dy < 3; ++dy) {
#pragma unroll
    for (int dx = 0; dx < 3; ++dx) {
      sum += c_filter[dy][dx] *
             s_tile[threadIdx.y + static_cast<unsigned>(dy)][threadIdx.x + static_cast<unsigned>(dx)];
    }
  }
  g_out[(top + 1 + static_cast<int>(threadIdx.y)) * kSide + left + 1 + static_cast<int>(threadIdx.x)] = sum;
}

// Values and their signs, two arrays carved from one.
template <bool kFits>
__global__ void carved_stencil_kernel(const float* g_in, float* g_out) {
  extern __shared__ unsigned char s_memory[];
  auto* s_values = reinterpret_cast<float*>(s_memory);
  short* s_signs = reinterpret_cast<short*>(s_values + blockDim.x + (kFits ? 2u : 0u));
  const unsigned t = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + t;
  const unsigned last = blockDim.x - 1;
  s_values[t + 1] = g_in[i];
  if (t == 0) s_values[0] = i > 0 ? g_in[i - 1] : 0.0f;
  if (t == last) s_values[t + 2] = i + 1 < kElements ? g_in[i + 1] : 0.0f;  // BUG carved_arrays_overlap
  s_signs[t] = static_cast<int>(g_in[i]) % 3 == 0 ? -1 : 1;
  __syncthreads();
  g_out[i] = s_signs[last - t] * (s_values[t] - 2.0f * s_values[t + 1] + 3.0f * s_values[t + 2]);
}

template <bool kFits>
Status run_carved(StreamRef stream, const float* g_in, float* g_out) {
  const LaunchConfig config{.grid = dim3(kElements / kBlock),
                            .block = dim3(kBlock),
                            .shared_bytes = (kBlock + 2) * sizeof(float) + kBlock * sizeof(short),
                            .stream = stream};
  return launch(carved_stencil_kernel<kFits>, config, g_in, g_out);
}

Status run_2d(StreamRef stream, const float* g_in, float* g_out) {
  const LaunchConfig config{
      .grid = dim3(kSide / kTile, kSide / kTile), .block = dim3(kTile, kTile), .stream = stream};
  return launch(convolution_2d_kernel, config, g_in, g_out);
}

void convolution(const float* in, float* out) {
  constexpr float kWeights[] = {1, -2, 3, -4, 9, 4, 3, 2, 1};
  for (int i = 0; i < kElements; ++i) {
    out[i] = 0.0f;
    for (int j = -kRadius; j <= kRadius; ++j) {
      if (i + j >= 0 && i + j < kElements) out[i] += kWeights[j + kRadius] * in[i + j];
    }
  }
}

void convolution_2d(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) {
    out[i] = 0.0f;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx) {
        const int x = i % kSide + dx;
        const int y = i / kSide + dy;
        if (x < 0 || x >= kSide || y < 0 || y >= kSide) continue;
        out[i] += static_cast<float>((2 - dx * dx) * (2 - dy * dy)) * in[y * kSide + x];
      }
    }
  }
}

void carved(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) {
    const float before = i > 0 ? in[i - 1] : 0.0f;
    const float after = i + 1 < kElements ? in[i + 1] : 0.0f;
    const int other = i - i % kBlock + kBlock - 1 - i % kBlock;
    const float sign = static_cast<int>(in[other]) % 3 == 0 ? -1.0f : 1.0f;
    out[i] = sign * (before - 2.0f * in[i] + 3.0f * after);
  }
}

constexpr int kGrid = kElements / kBlock;

const Kernel kKernels[] = {
    {"convolution", run<kGrid, kBlock, convolution_kernel<Halo::both>>, convolution},
    {"halo_left_alone", run<kGrid, kBlock, convolution_kernel<Halo::left_alone>>, nullptr, "uninitialised"},
    {"halo_not_awaited", run<kGrid, kBlock, convolution_kernel<Halo::not_awaited>>, nullptr, "race"},
    {"neighbour_behind", run<kGrid, kBlock, neighbour_behind_kernel>, nullptr, "out_of_bounds"},
    {"convolution_2d", run_2d, convolution_2d},
    {"carved_stencil", run_carved<true>, carved},
    {"carved_arrays_overlap", run_carved<false>, nullptr, "race"},
};

}  // namespace

std::span<const Kernel> stencil_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
