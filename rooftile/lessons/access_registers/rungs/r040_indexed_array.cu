// An array in local memory.
//
// Idea       the maximum is taken from row `start` on, round the end. Its value does not depend on that.
// Change     one index that the compiler does not know: the array cannot be in registers.
// Bottleneck local memory: 256 bytes per thread are stored to L1 and loaded again, with no spill reported.
// Source     CUDA C++ Programming Guide, local memory.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_registers/access_registers.h"
#include "rooftile/lessons/access_registers/rungs/registers_device.h"

namespace rooftile::ROOFTILE_TARGET::access_registers_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    indexed_array_kernel(const float* g_x, float* g_y, std::int64_t columns, unsigned start) {
  for (const std::int64_t column : grid_stride(columns)) {
    float local_column[kRows];
#pragma unroll
    for (int k = 0; k < kRows; ++k) local_column[k] = g_x[k * columns + column];
    float largest = local_column[start % kRows];
#pragma unroll 1
    for (unsigned k = 1; k < kRows; ++k) largest = fmaxf(largest, local_column[(start + k) % kRows]);
#pragma unroll
    for (int k = 0; k < kRows; ++k) g_y[k * columns + column] = local_column[k] - largest;
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessRegistersArgs>& call) {
  const std::int64_t columns = call.args.x.shape[1];
  if (columns == 0) return {};
  return launch(indexed_array_kernel, config_for(call.stream, columns), x_of(call.args), y_of(call.args),
                columns, static_cast<unsigned>(columns));
}

}  // namespace rooftile::ROOFTILE_TARGET::access_registers_rungs
