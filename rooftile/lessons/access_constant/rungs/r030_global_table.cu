// The table in global memory.
//
// Idea       L1 keeps a table that everybody reads; a request takes the sectors that its lanes touch.
// Change     loads of global memory. A first launch writes the table into the workspace.
// Bottleneck requests to L1: one sector with a uniform index, four or five with an index per lane.
// Source     CUDA C++ Best Practices Guide, constant memory.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/rungs/constant_device.h"

namespace rooftile::ROOFTILE_TARGET::access_constant_rungs {
namespace {

static_assert(kTableSize <= kBlock, "one block writes the table");

__global__ void write_table_kernel(float* g_table, ConstantTable table) {
  if (threadIdx.x < kTableSize) g_table[threadIdx.x] = table.values[threadIdx.x];
}

__global__ void __launch_bounds__(kBlock) global_table_kernel(Elements e, const float* g_table) {
  evaluate(e, [g_table](unsigned k) { return __ldg(g_table + k); });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessConstantArgs>& call) {
  if (call.args.x.numel() == 0) return {};
  auto* table = static_cast<float*>(call.workspace.data);
  ROOFTILE_TRY(launch(write_table_kernel, {.grid = dim3(1), .block = dim3(kTableSize), .stream = call.stream},
                      table, make_constant_table()));
  return launch(global_table_kernel, config_for(call.stream, call.args.x.numel()), elements(call.args),
                table);
}

}  // namespace rooftile::ROOFTILE_TARGET::access_constant_rungs
