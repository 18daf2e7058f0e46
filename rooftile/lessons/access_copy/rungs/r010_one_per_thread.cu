// A thread per element, at any offset and stride.
//
// Idea       lane l of a warp reads word offset + (first + l) * stride.
// Bottleneck sectors: with stride s a request touches min(4 * s, 32) of 32 bytes, one more where the first
//            word lies inside of one.
// Source     CUDA C++ Best Practices Guide, strided accesses.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_copy/access_copy.h"
#include "rooftile/lessons/access_copy/rungs/copy_device.h"

namespace rooftile::ROOFTILE_TARGET::access_copy_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    one_per_thread_kernel(const float* g_x, float* g_y, std::int64_t n, std::int64_t stride) {
  for (const std::int64_t i : grid_stride(n)) g_y[i] = g_x[i * stride];
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessCopyArgs>& call) {
  const std::int64_t n = call.args.y.numel();
  if (n == 0) return {};
  return launch(
      one_per_thread_kernel,
      {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = call.stream},
      first_of_x(call.args), static_cast<float*>(call.args.y.data), n, call.args.stride);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_copy_rungs
