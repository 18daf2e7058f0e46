#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "tests/sim/textures.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

__device__ void store(float value, float* g_out) { g_out[0] = value; }
__device__ void store(unsigned char value, float* g_out) { g_out[0] = value; }
__device__ void store(short value, float* g_out) { g_out[0] = value; }
__device__ void store(float2 value, float* g_out) {
  g_out[0] = value.x;
  g_out[1] = value.y;
}
__device__ void store(float4 value, float* g_out) {
  g_out[0] = value.x;
  g_out[1] = value.y;
  g_out[2] = value.z;
  g_out[3] = value.w;
}
__device__ void store(uchar4 value, float* g_out) {
  g_out[0] = value.x;
  g_out[1] = value.y;
  g_out[2] = value.z;
  g_out[3] = value.w;
}

template <class T>
__global__ void fetch_kernel(Fetch fetch, cudaTextureObject_t object, unsigned n, const float* g_at,
                             float* g_out) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = g_at[2 * i];
  const float y = g_at[2 * i + 1];
  T value;
  switch (fetch) {
    case Fetch::tex2D:
      value = tex2D<T>(object, x, y);  // the fetch
      break;
    case Fetch::tex2D_level:
      value = tex2DLod<T>(object, x, y, 0.0f);
      break;
    case Fetch::tex2D_pointer:
      tex2D(&value, object, x, y);
      break;
    case Fetch::tex1D:
      value = tex1D<T>(object, x);
      break;
    case Fetch::tex1Dfetch:
      value = tex1Dfetch<T>(object, static_cast<int>(x));
      break;
  }
  store(value, g_out + 4 * i);
}

__global__ void surface_kernel(cudaSurfaceObject_t object, cudaSurfaceBoundaryMode mode, int x, int y,
                               float* g_out) {
  const float value = surf2Dread<float>(object, x, y, mode);
  *g_out = value;
  surf2Dwrite(value + 1, object, x, y + 1, mode);
}

__global__ void surface_uchar4_kernel(cudaSurfaceObject_t object, int x, int y) {
  auto value = surf2Dread<uchar4>(object, x, y);
  value.y = 200;
  surf2Dwrite(value, object, x, y);
}

}  // namespace

Status run_fetch(StreamRef stream, Fetch fetch, ReadAs as, unsigned long long object, unsigned n,
                 const float* g_at, float* g_out) {
  const LaunchConfig config{.grid = dim3((n + 31) / 32), .block = dim3(32), .stream = stream};
  switch (as) {
    case ReadAs::float1:
      return launch(fetch_kernel<float>, config, fetch, object, n, g_at, g_out);
    case ReadAs::float2:
      return launch(fetch_kernel<float2>, config, fetch, object, n, g_at, g_out);
    case ReadAs::float4:
      return launch(fetch_kernel<float4>, config, fetch, object, n, g_at, g_out);
    case ReadAs::uchar:
      return launch(fetch_kernel<unsigned char>, config, fetch, object, n, g_at, g_out);
    case ReadAs::uchar4:
      return launch(fetch_kernel<uchar4>, config, fetch, object, n, g_at, g_out);
    case ReadAs::short1:
      return launch(fetch_kernel<short>, config, fetch, object, n, g_at, g_out);
  }
  return internal_error("an unknown type");
}

Status run_surface(StreamRef stream, unsigned long long object, Outside outside, int x_bytes, int y,
                   float* g_out) {
  const cudaSurfaceBoundaryMode mode = outside == Outside::trap    ? cudaBoundaryModeTrap
                                       : outside == Outside::clamp ? cudaBoundaryModeClamp
                                                                   : cudaBoundaryModeZero;
  return launch(surface_kernel, {.stream = stream}, object, mode, x_bytes, y, g_out);
}
Status run_surface_uchar4(StreamRef stream, unsigned long long object, int x_bytes, int y) {
  return launch(surface_uchar4_kernel, {.stream = stream}, object, x_bytes, y);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
