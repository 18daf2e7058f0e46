// Two numbers as arguments.
//
// Idea       none: arguments lie in constant memory, and every lane reads the same.
// Bottleneck memory.
// Source     CUDA C++ Programming Guide, kernel arguments.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_object/access_object.h"
#include "rooftile/lessons/access_object/rungs/object_device.h"

namespace rooftile::ROOFTILE_TARGET::access_object_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    numbers_kernel(const float* g_x, float* g_y, std::int64_t n, float a, float b) {
  for (const std::int64_t i : grid_stride(n)) g_y[i] = fmaf(a, g_x[i], b);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessObjectArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(numbers_kernel, config_for(call.stream, n), x_of(call.args), y_of(call.args), n, call.args.a,
                call.args.b);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_object_rungs
