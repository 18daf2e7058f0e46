#include "rooftile/ops/reduce/reduce_functor.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

struct RootOfSquares {
  using In = float;
  using Acc = float;
  __device__ Acc identity() const { return 0.0f; }
  __device__ Acc combine(Acc a, Acc b) const { return a + b; }
  __device__ Acc take(Acc acc, In x, std::int64_t) const { return acc + x * x; }
  __device__ void store(const ReduceOutput& out, std::int64_t i, Acc acc) const {
    static_cast<float*>(out.data)[i] = sqrtf(acc);
  }
};

}  // namespace

Status root_of_squares(StreamRef stream, const DeviceProperties& device, const float* g_in, std::int64_t n,
                       float* g_out, const Workspace& workspace) {
  return reduce_with(RootOfSquares{}, stream, device, g_in, n, {.data = g_out}, workspace);
}

WorkspaceSpec root_of_squares_workspace(const DeviceProperties& device) {
  return reduce_with_workspace(device);
}

}  // namespace rooftile::ROOFTILE_TARGET
