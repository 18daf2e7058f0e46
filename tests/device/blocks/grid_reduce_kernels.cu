#include "tests/device/blocks/grid_reduce_kernels.h"

#include "rooftile/device/atomic16.h"
#include "rooftile/device/grid_reduce.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

__global__ void grid_reduce_kernel(const float* g_in, float* g_partials, std::uint32_t* g_ticket,
                                   float* g_out, std::uint32_t* g_finishers) {
  __shared__ float s_warp_values[kGridReduceThreads / kWarpSize];
  float value = g_in[grid_thread()];
  const auto add = [](float a, float b) { return a + b; };
  if (!grid_reduce<kGridReduceThreads>(value, 0.0f, s_warp_values, g_partials, g_ticket, add)) return;
  *g_out = value;
  atomicAdd(g_finishers, 1u);
}

template <class T>
__global__ void fast_atomic_add_kernel(const T* g_values, T* g_sums, std::int64_t length) {
  fast_atomic_add(g_sums, threadIdx.x % length, length, g_values[threadIdx.x]);
}

}  // namespace

Status run_grid_reduce(StreamRef stream, int blocks, const float* g_in, float* g_partials,
                       std::uint32_t* g_ticket, float* g_out, std::uint32_t* g_finishers) {
  return launch(grid_reduce_kernel,
                {.grid = static_cast<unsigned>(blocks), .block = kGridReduceThreads, .stream = stream}, g_in,
                g_partials, g_ticket, g_out, g_finishers);
}

Status run_fast_atomic_add(StreamRef stream, bool bfloat, int threads, const std::uint16_t* g_values,
                           std::uint16_t* g_sums, std::int64_t length) {
  const auto start = [&]<class T>(const T* values, T* sums) {
    return launch(fast_atomic_add_kernel<T>, {.block = static_cast<unsigned>(threads), .stream = stream},
                  values, sums, length);
  };
  if (bfloat)
    return start(reinterpret_cast<const __nv_bfloat16*>(g_values), reinterpret_cast<__nv_bfloat16*>(g_sums));
  return start(reinterpret_cast<const __half*>(g_values), reinterpret_cast<__half*>(g_sums));
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
