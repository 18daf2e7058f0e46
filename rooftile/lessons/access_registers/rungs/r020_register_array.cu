// The column stays in registers.
//
// Idea       64 loads at once, one pass, and the loads are the prefetch.
// Change     an array; all loops over it are unrolled, so that every index is known.
// Bottleneck memory, at low occupancy: 64 loads per thread are on the way, so that few warps are enough.
// Source     Volkov, Better Performance at Lower Occupancy (2010).
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_registers/access_registers.h"
#include "rooftile/lessons/access_registers/rungs/registers_device.h"

namespace rooftile::ROOFTILE_TARGET::access_registers_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    register_array_kernel(const float* g_x, float* g_y, std::int64_t columns) {
  subtract_largest(g_x, g_y, columns);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessRegistersArgs>& call) {
  const std::int64_t columns = call.args.x.shape[1];
  if (columns == 0) return {};
  return launch(register_array_kernel, config_for(call.stream, columns), x_of(call.args), y_of(call.args),
                columns);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_registers_rungs
