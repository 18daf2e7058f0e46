// What the exchanges share.
#pragma once

#include <cstdint>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/warp.h"
#include "rooftile/lessons/access_swap/access_swap.h"

namespace rooftile::ROOFTILE_TARGET::access_swap_rungs {

inline constexpr int kBlock = 256;
inline constexpr int kHalf = kWarpSize / 2;

using SwapKernel = void (*)(const float*, float*, std::int64_t);

// A thread per element; whole warps, so that every lane has its opposite.
inline Status launch_swap(SwapKernel kernel, StreamRef stream, const AccessSwapArgs& args) {
  const std::int64_t n = args.x.numel();
  if (n == 0) return {};
  const std::int64_t blocks = (n - 1) / kBlock + 1;
  if (blocks > 0x7fffffff) return unsupported("n must be below 2^39: a grid has no more threads");
  return launch(kernel,
                {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kBlock), .stream = stream},
                static_cast<const float*>(args.x.data), static_cast<float*>(args.y.data), n);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_swap_rungs
