// A __constant__ variable.
//
// Idea       64 KiB of memory with a cache of its own; an entry that all lanes want is one read.
// Bottleneck arithmetic with a uniform index; with an index per lane 32 entries, one after the other.
// Source     CUDA C++ Programming Guide, __constant__.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/rungs/constant_device.h"

namespace rooftile::ROOFTILE_TARGET::access_constant_rungs {
namespace {

__constant__ ConstantTable c_table = make_constant_table();

__global__ void __launch_bounds__(kBlock) constant_memory_kernel(Elements e) {
  evaluate(e, [](unsigned k) { return c_table.values[k]; });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessConstantArgs>& call) {
  if (call.args.x.numel() == 0) return {};
  return launch(constant_memory_kernel, config_for(call.stream, call.args.x.numel()), elements(call.args));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_constant_rungs
