// The frame of the copies: where x begins, and copies by vectors.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/vec.h"
#include "rooftile/lessons/access_copy/access_copy.h"

namespace rooftile::ROOFTILE_TARGET::access_copy_rungs {

inline constexpr int kBlock = 256;
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();

inline const float* first_of_x(const AccessCopyArgs& args) {
  return static_cast<const float*>(args.x.data) + args.offset;
}

// The elements behind the last whole vector, by the grid's first threads.
template <int kCount>
__device__ __forceinline__ void copy_tail(const float* g_x, float* g_y, std::int64_t n) {
  const std::int64_t i = n / kCount * kCount + grid_thread();
  if (i < n) g_y[i] = g_x[i];
}

using VectorKernel = void (*)(const float*, float*, std::int64_t);

// A thread per kPerThread elements.
template <int kPerThread>
Status launch_vectors(VectorKernel kernel, StreamRef stream, const AccessCopyArgs& args) {
  const std::int64_t n = args.y.numel();
  if (n == 0) return {};
  return launch(kernel,
                {.grid = dim3(grid_blocks(n, std::int64_t{kBlock} * kPerThread, kMostBlocks)),
                 .block = dim3(kBlock),
                 .stream = stream},
                first_of_x(args), static_cast<float*>(args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_copy_rungs
