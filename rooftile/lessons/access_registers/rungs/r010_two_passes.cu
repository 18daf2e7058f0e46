// The column is read twice.
//
// Idea       none: the definition. Few registers, many warps.
// Bottleneck memory: 12 bytes per element where 8 would do, unless L2 still holds the column.
// Source     the definition.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_registers/access_registers.h"
#include "rooftile/lessons/access_registers/rungs/registers_device.h"

namespace rooftile::ROOFTILE_TARGET::access_registers_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    two_passes_kernel(const float* g_x, float* g_y, std::int64_t columns) {
  for (const std::int64_t column : grid_stride(columns)) {
    float largest = g_x[column];
    for (int k = 1; k < kRows; ++k) largest = fmaxf(largest, g_x[k * columns + column]);
    for (int k = 0; k < kRows; ++k) g_y[k * columns + column] = g_x[k * columns + column] - largest;
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessRegistersArgs>& call) {
  const std::int64_t columns = call.args.x.shape[1];
  if (columns == 0) return {};
  return launch(two_passes_kernel, config_for(call.stream, columns), x_of(call.args), y_of(call.args),
                columns);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_registers_rungs
