// Rows of a by 16 bytes, turned on their way through registers.
//
// Idea       a thread asks for 4 elements of a row of a one step before it stores them, as a column's elements in 4 lines of shared
//            memory. 16 rows by 2 vectors to a warp: whole sectors of global memory, and a bank of its own for each store.
// Change     2 loads and 8 stores for each step in place of 8 copies of 4 bytes; no latency shows, as the load has a step's time.
// Limits     f32; rows of a and of b of a multiple of 16 bytes.
// Bottleneck fused multiply-adds, where tiles fill whole rounds of the device.
// Source     Kerr, Merrill, Demouth and Tran (2017), "CUTLASS: fast linear algebra in CUDA C++".
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  return launch_tiles<Tile<float, TileSize::large>, float, CopyWay::turned, CopyWay::along>(call, problem);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
