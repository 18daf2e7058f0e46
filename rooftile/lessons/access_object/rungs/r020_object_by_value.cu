// An object as an argument.
//
// Idea       an object is copied as an argument is, byte by byte: its members are arguments, its functions
//            are inlined.
// Change     a class, and a kernel that is a template of it.
// Limits     what can be copied byte by byte; no pointers to host memory inside, no virtual functions.
// Bottleneck memory: the machine code is that of numbers.
// Source     CUDA C++ Programming Guide, classes.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_object/access_object.h"
#include "rooftile/lessons/access_object/rungs/object_device.h"

namespace rooftile::ROOFTILE_TARGET::access_object_rungs {
namespace {

template <class Function>
__global__ void __launch_bounds__(kBlock)
    object_by_value_kernel(const float* g_x, float* g_y, std::int64_t n, Function function) {
  for (const std::int64_t i : grid_stride(n)) g_y[i] = function(g_x[i]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessObjectArgs>& call) {
  const std::int64_t n = call.args.x.numel();
  if (n == 0) return {};
  return launch(object_by_value_kernel<Affine>, config_for(call.stream, n), x_of(call.args), y_of(call.args),
                n, Affine(call.args.a, call.args.b));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_object_rungs
