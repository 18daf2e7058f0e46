// More bytes on the way.
//
// Idea       a thread loads four vectors before it stores the first: latency is paid once for 64 bytes.
// Change     four vectors per thread, a block apart, so that every request is one stretch.
// Limits     stride 1, both sides aligned to 16 bytes.
// Bottleneck memory.
// Source     Volkov, Better Performance at Lower Occupancy (2010).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_copy/access_copy.h"
#include "rooftile/lessons/access_copy/rungs/copy_device.h"

namespace rooftile::ROOFTILE_TARGET::access_copy_rungs {
namespace {

constexpr int kCount = 4;     // elements of a vector
constexpr int kInFlight = 4;  // vectors of a thread

__global__ void __launch_bounds__(kBlock)
    float4_four_in_flight_kernel(const float* g_x, float* g_y, std::int64_t n) {
  const std::int64_t vectors = n / kCount;
  const std::int64_t first = std::int64_t{blockIdx.x} * kBlock * kInFlight + threadIdx.x;
  Vec<float, kCount> r_values[kInFlight];
#pragma unroll
  for (int k = 0; k < kInFlight; ++k) {
    const std::int64_t i = first + k * kBlock;
    if (i < vectors) r_values[k] = load_vec(g_x + kCount * i);
  }
#pragma unroll
  for (int k = 0; k < kInFlight; ++k) {
    const std::int64_t i = first + k * kBlock;
    if (i < vectors) store_vec(g_y + kCount * i, r_values[k]);
  }
  copy_tail<kCount>(g_x, g_y, n);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessCopyArgs>& call) {
  return launch_vectors<kCount * kInFlight>(float4_four_in_flight_kernel, call.stream, call.args);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_copy_rungs
