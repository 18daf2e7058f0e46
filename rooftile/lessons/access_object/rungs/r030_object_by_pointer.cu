// An object in global memory.
//
// Idea       what is too large for an argument, or changes on the device, lies in memory.
// Change     a launch that writes the object; loads of its members, by every thread, before the first result.
// Bottleneck memory; two more requests per element, each for one sector that L1 has. The compiler may not
//            keep the members: y might overlap them.
// Source     CUDA C++ Programming Guide, classes.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_object/access_object.h"
#include "rooftile/lessons/access_object/rungs/object_device.h"

namespace rooftile::ROOFTILE_TARGET::access_object_rungs {
namespace {

__global__ void write_object_kernel(Affine* g_object, Affine object) { *g_object = object; }

__global__ void __launch_bounds__(kBlock)
    object_by_pointer_kernel(const float* g_x, float* g_y, std::int64_t n, const Affine* g_object) {
  for (const std::int64_t i : grid_stride(n)) g_y[i] = (*g_object)(g_x[i]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessObjectArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  auto* object = static_cast<Affine*>(call.workspace.data);
  ROOFTILE_TRY(
      launch(write_object_kernel, one_thread(call.stream), object, Affine(call.args.a, call.args.b)));
  return launch(object_by_pointer_kernel, config_for(call.stream, n), x_of(call.args), y_of(call.args), n,
                object);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_object_rungs
