// Image filters that read their pixels as texels.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/checked/corpus/corpus.h"

#if defined(ROOFTILE_SIM)
#include "rooftile/sim/texture.h"
#endif

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr int kSide = 64;
constexpr int kTile = 16;
static_assert(kSide * kSide == kElements);

// What lies outside is as the edge is.
__global__ void box_filter_kernel(cudaTextureObject_t image, float* g_out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int dy = -1; dy <= 1; ++dy) {
    for (int dx = -1; dx <= 1; ++dx) {
      sum += tex2D<float>(image, static_cast<float>(x) + static_cast<float>(dx) + 0.5f,
                          static_cast<float>(y) + static_cast<float>(dy) + 0.5f);
    }
  }
  g_out[y * kSide + x] = sum;
}

// Half a pixel to the right: the texture's filter takes the mean of two.
__global__ void shift_kernel(cudaTextureObject_t image, float* g_out) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  g_out[y * kSide + x] = tex2D<float>(image, static_cast<float>(x) + 1.0f, static_cast<float>(y) + 0.5f);
}

LaunchConfig whole(StreamRef stream) {
  return {.grid = dim3(kSide / kTile, kSide / kTile), .block = dim3(kTile, kTile), .stream = stream};
}

// Textures are made by the host, by other functions than CUDA's.
#if defined(ROOFTILE_SIM)
template <void (*kKernel)(cudaTextureObject_t, float*), simt::FilterMode kFilter>
Status run_filter(StreamRef stream, const float* g_in, float* g_out) {
  Result<simt::TextureObject> image = simt::make_texture_2d(g_in, kSide, kSide, kSide * sizeof(float),
                                                            simt::texel_format<float>(), {.filter = kFilter});
  if (!image.ok()) return image.status();
  return launch(kKernel, whole(stream), image->handle(), g_out);
}
constexpr auto kRunBoxFilter = run_filter<box_filter_kernel, simt::FilterMode::point>;
constexpr auto kRunShift = run_filter<shift_kernel, simt::FilterMode::linear>;
#else
template <void (*kKernel)(cudaTextureObject_t, float*), cudaTextureFilterMode kFilter>
Status run_filter(StreamRef stream, const float* g_in, float* g_out) {
  cudaResourceDesc memory{};
  memory.resType = cudaResourceTypePitch2D;
  memory.res.pitch2D.devPtr = const_cast<float*>(g_in);
  memory.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  memory.res.pitch2D.width = kSide;
  memory.res.pitch2D.height = kSide;
  memory.res.pitch2D.pitchInBytes = kSide * sizeof(float);
  cudaTextureDesc reading{};
  reading.addressMode[0] = reading.addressMode[1] = cudaAddressModeClamp;
  reading.filterMode = kFilter;
  cudaTextureObject_t image = 0;
  if (cudaCreateTextureObject(&image, &memory, &reading, nullptr) != cudaSuccess) {
    return invalid_argument("no texture of the input");
  }
  const Status status = launch(kKernel, whole(stream), image, g_out);
  cudaStreamSynchronize(static_cast<cudaStream_t>(stream.handle));
  cudaDestroyTextureObject(image);
  return status;
}
constexpr auto kRunBoxFilter = run_filter<box_filter_kernel, cudaFilterModePoint>;
constexpr auto kRunShift = run_filter<shift_kernel, cudaFilterModeLinear>;
#endif

int clamped(int at) { return at < 0 ? 0 : (at < kSide ? at : kSide - 1); }

void box_filtered(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) {
    out[i] = 0.0f;
    for (int dy = -1; dy <= 1; ++dy) {
      for (int dx = -1; dx <= 1; ++dx)
        out[i] += in[clamped(i / kSide + dy) * kSide + clamped(i % kSide + dx)];
    }
  }
}

void shifted(const float* in, float* out) {
  for (int i = 0; i < kElements; ++i) out[i] = 0.5f * (in[i] + in[i - i % kSide + clamped(i % kSide + 1)]);
}

const Kernel kKernels[] = {
    {"box_filter", kRunBoxFilter, box_filtered},
    {"shift_by_half", kRunShift, shifted},
};

}  // namespace

std::span<const Kernel> texture_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
