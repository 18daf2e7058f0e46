// The table in shared memory.
//
// Idea       shared memory gives one word to all lanes in one pass, and 32 words of 32 banks in one pass as
//            well.
// Change     a copy per block, and a barrier.
// Bottleneck requests to shared memory, whatever the index.
// Source     CUDA C++ Best Practices Guide, shared memory.
#include "rooftile/core/rung.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/target.h"
#include "rooftile/lessons/access_constant/access_constant.h"
#include "rooftile/lessons/access_constant/rungs/constant_device.h"

namespace rooftile::ROOFTILE_TARGET::access_constant_rungs {
namespace {

__global__ void __launch_bounds__(kBlock)
    shared_table_kernel(Elements e, const __grid_constant__ ConstantTable table) {
  __shared__ float s_table[kTableSize];
  if (threadIdx.x < kTableSize) s_table[threadIdx.x] = table.values[threadIdx.x];
  __syncthreads();  // the table is complete
  const float* const s_entries = s_table;
  evaluate(e, [s_entries](unsigned k) { return s_entries[k]; });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<AccessConstantArgs>& call) {
  if (call.args.x.numel() == 0) return {};
  return launch(shared_table_kernel, config_for(call.stream, call.args.x.numel()), elements(call.args),
                make_constant_table());
}

}  // namespace rooftile::ROOFTILE_TARGET::access_constant_rungs
