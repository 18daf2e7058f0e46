// What the counts share: the total, as unsigned so that it wraps.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/lessons/access_count/access_count.h"

namespace rooftile::ROOFTILE_TARGET::access_count_rungs {

inline constexpr int kBlock = 256;
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();

using CountKernel = void (*)(const unsigned*, unsigned*, std::int64_t);

static __global__ void clear_total_kernel(unsigned* g_total) { *g_total = 0; }

// Two launches: the total is 0 before anybody adds to it.
inline Status launch_count(CountKernel kernel, StreamRef stream, const AccessCountArgs& args,
                           unsigned blocks) {
  auto* total = static_cast<unsigned*>(args.y.data);
  ROOFTILE_TRY(launch(clear_total_kernel, {.grid = dim3(1), .block = dim3(1), .stream = stream}, total));
  const std::int64_t n = args.x.numel();
  if (n == 0) return {};
  return launch(kernel, {.grid = dim3(blocks), .block = dim3(kBlock), .stream = stream},
                static_cast<const unsigned*>(args.x.data), total, n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_count_rungs
