// What a launch starts on a GPU: read from the graph that it is captured into, so that it holds for any library's launch.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "rooftile/core/status.h"
#include "rooftile/core/stream.h"

namespace rooftile::lab {

struct GpuKernel {
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;  // that the launch asks for
};

struct GpuLaunches {
  std::vector<GpuKernel> kernels;
  int others = 0;  // copies, fills and whatever else is no kernel
};

// Captures and does not run it. An error where the launch cannot be captured.
[[nodiscard]] Result<GpuLaunches> gpu_launches(StreamRef stream, const std::function<Status()>& launch);

}  // namespace rooftile::lab
