// The table as an argument.
//
// Idea       arguments of a kernel are copied into constant memory with the launch: no variable, no copy of
//            its own.
// Change     a structure by value, __grid_constant__ so that an index into it makes no local copy.
// Limits     4 KiB of arguments; 32 KiB from CUDA 12.1 on Volta and newer.
// Bottleneck as constant_memory.
// Source     CUDA C++ Programming Guide, __grid_constant__.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/rungs/constant_device.h"

namespace rooftile::ROOFTILE_TARGET::access_constant_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    kernel_argument_kernel(Elements e, const __grid_constant__ ConstantTable table) {
  evaluate(e, [&table](unsigned k) { return table.values[k]; });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessConstantArgs>& call) {
  if (call.args.x.numel() == 0) return {};
  return launch(kernel_argument_kernel, config_for(call.stream, call.args.x.numel()), elements(call.args),
                make_constant_table());
}

}  // namespace rooftile::ROOFTILE_TARGET::access_constant_rungs
