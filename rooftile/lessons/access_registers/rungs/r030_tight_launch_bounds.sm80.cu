// Occupancy by decree.
//
// Idea       more warps per SM should hide more latency; the compiler is told how many blocks must fit.
// Change     the second number of the launch bounds.
// Bottleneck 65536 registers for 1536 threads leave 40 each: the column spills to local memory, every spilled
//            number is stored and loaded again through L1.
// Source     CUDA C++ Programming Guide, launch bounds.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_registers/access_registers.h"
#include "rooftile/lessons/access_registers/rungs/registers_device.h"

namespace rooftile::ROOFTILE_TARGET::access_registers_rungs {
namespace {

constexpr int kBlocksPerMultiprocessor = 6;  // 1536 threads: as many as every SM since 8.0 holds

__global__ void __launch_bounds__(kBlock, kBlocksPerMultiprocessor)
    tight_launch_bounds_kernel(const float* g_x, float* g_y, std::int64_t columns) {
  subtract_largest(g_x, g_y, columns);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessRegistersArgs>& call) {
  const std::int64_t columns = call.args.x.shape[1];
  if (columns == 0) return {};
  return launch(tight_launch_bounds_kernel, config_for(call.stream, columns), x_of(call.args),
                y_of(call.args), columns);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_registers_rungs
