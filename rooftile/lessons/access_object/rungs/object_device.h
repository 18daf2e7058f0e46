// The class that the rungs pass around.
#pragma once

#include <cstdint>
#include <limits>

#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"
#include "rooftile/lessons/access_object/access_object.h"

namespace rooftile::ROOFTILE_TARGET::access_object_rungs {

inline constexpr int kBlock = 256;
inline constexpr std::int64_t kMostBlocks = std::numeric_limits<int>::max();

// A class as any other: private state, a function that host and device can call.
class Affine {
 public:
  __host__ __device__ Affine(float a, float b) : a_(a), b_(b) {}
  __host__ __device__ float operator()(float x) const { return fmaf(a_, x, b_); }

 private:
  float a_;
  float b_;
};

inline LaunchConfig config_for(StreamRef stream, std::int64_t n) {
  return {.grid = dim3(grid_blocks(n, kBlock, kMostBlocks)), .block = dim3(kBlock), .stream = stream};
}
inline LaunchConfig one_thread(StreamRef stream) {
  return {.grid = dim3(1), .block = dim3(1), .stream = stream};
}

inline const float* x_of(const AccessObjectArgs& args) { return static_cast<const float*>(args.x.data); }
inline float* y_of(const AccessObjectArgs& args) { return static_cast<float*>(args.y.data); }

}  // namespace rooftile::ROOFTILE_TARGET::access_object_rungs
