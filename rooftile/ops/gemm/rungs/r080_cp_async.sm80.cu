// Copies that go past the registers.
//
// Idea       cp.async brings the operands into shared memory some steps ahead: no register waits for them, and one barrier
//            parts two steps. A thread has 8 x 16 sums: 128 multiply-adds for 6 loads of 16 bytes.
// Change     four stages in shared memory; elements of a in 4-byte copies that stand transposed; blocks of 128 threads.
// Limits     f32; rows of b of a multiple of 16 bytes.
// Bottleneck the copies of 4 bytes: 8 of a thread for each step of 1024 multiply-adds.
// Source     PTX ISA, cp.async; Kerr, Merrill, Demouth and Tran (2017), "CUTLASS: fast linear algebra in CUDA C++".
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  return launch_tiles<Tile<float, TileSize::large>, float, CopyWay::single, CopyWay::along>(call, problem);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
