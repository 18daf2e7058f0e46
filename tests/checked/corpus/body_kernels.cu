// Bodies that attract each other: positions and masses come as vectors, tiles of them lie in shared memory.
#include "rooftile/device/target.h"

#include <cmath>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

constexpr unsigned kBodies = kElements / 4;
constexpr unsigned kBlock = 64;
constexpr unsigned kTilesPerSystem = 2;  // each system of bodies is on its own
constexpr unsigned kSystem = kTilesPerSystem * kBlock;
constexpr float kStep = 0.25f;

struct Body {
  float4 place;  // w: its mass
};

__host__ __device__ inline float coordinate(float value, unsigned factor) {
  return static_cast<float>(static_cast<unsigned>(value) * factor % 127u) / 8.0f;
}

__device__ Body body_of(const float* g_in, unsigned i) {
  const float4 in = reinterpret_cast<const float4*>(g_in)[i];
  return {make_float4(coordinate(in.x, 3), coordinate(in.y, 5), coordinate(in.z, 11), coordinate(in.w, 7))};
}

enum class Tiles { right, not_awaited, replaced_early };

template <Tiles kForm>
__global__ void bodies_kernel(const float* g_in, float* g_out) {
  __shared__ Body s_bodies[kBlock];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const Body mine = body_of(g_in, i);
  float3 pull = make_float3(0.0f, 0.0f, 0.0f);
  for (unsigned tile = 0; tile < kTilesPerSystem; ++tile) {
    const Body fetched = body_of(g_in, i / kSystem * kSystem + tile * kBlock + threadIdx.x);
    s_bodies[threadIdx.x] = fetched;  // BUG bodies_replaced_early
    if constexpr (kForm != Tiles::not_awaited) __syncthreads();
    for (unsigned j = 0; j < kBlock; ++j) {
      const Body body = s_bodies[j];  // BUG bodies_not_awaited
      const float4 other = body.place;
      const float dx = other.x - mine.place.x;
      const float dy = other.y - mine.place.y;
      const float dz = other.z - mine.place.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1.0f);
      const float factor = other.w * inverse * inverse * inverse;
      pull.x += dx * factor;
      pull.y += dy * factor;
      pull.z += dz * factor;
    }
    if constexpr (kForm != Tiles::replaced_early) __syncthreads();
  }
  reinterpret_cast<float4*>(g_out)[i] =
      make_float4(mine.place.x + kStep * pull.x, mine.place.y + kStep * pull.y, mine.place.z + kStep * pull.z,
                  mine.place.w);
}

void moved(const float* in, float* out) {
  constexpr unsigned kFactors[] = {3, 5, 11, 7};
  for (unsigned i = 0; i < kBodies; ++i) {
    double pull[3] = {};
    for (unsigned j = i - i % kSystem; j < i - i % kSystem + kSystem; ++j) {
      double d[3];
      double squares = 1.0;
      for (unsigned k = 0; k < 3; ++k) {
        d[k] = coordinate(in[4 * j + k], kFactors[k]) - coordinate(in[4 * i + k], kFactors[k]);
        squares += d[k] * d[k];
      }
      const double factor = coordinate(in[4 * j + 3], 7) / (squares * std::sqrt(squares));
      for (unsigned k = 0; k < 3; ++k) pull[k] += d[k] * factor;
    }
    for (unsigned k = 0; k < 4; ++k) out[4 * i + k] = coordinate(in[4 * i + k], kFactors[k]);
    for (unsigned k = 0; k < 3; ++k) out[4 * i + k] += static_cast<float>(kStep * pull[k]);
  }
}

template <Tiles kForm>
constexpr auto kRunBodies = run<kBodies / kBlock, kBlock, bodies_kernel<kForm>>;

const Kernel kKernels[] = {
    {.name = "bodies", .run = kRunBodies<Tiles::right>, .expected = moved, .tolerance = 1e-4f},
    {"bodies_not_awaited", kRunBodies<Tiles::not_awaited>, nullptr, "race"},
    {"bodies_replaced_early", kRunBodies<Tiles::replaced_early>, nullptr, "race"},
};

}  // namespace

std::span<const Kernel> body_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
