// The copy engine brings b.
//
// Idea       one thread asks for a box of 8 lines of b, and a barrier counts its bytes: no thread has a copy of b to make. a is
//            turned by the threads as before: the engine moves rows as they lie, and k of a's rows lies the wrong way for vectors
//            of rows.
// Change     no address of b in any thread, and edges are the engine's.
// Limits     f32; one matrix; rows of a and of b of a multiple of 16 bytes, not transposed; fewer than 2^31 rows and columns.
// Bottleneck fused multiply-adds; a wait at a barrier of its own beside that of the block.
// Source     PTX ISA, cp.async.bulk.tensor.
#include "rooftile/ops/gemm/rungs/engine_copy.h"
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

using TmaTile = Tile<float, TileSize::large>;
using TmaCopyA = OperandCopy<float, TmaTile::kRows, TmaTile::kDepth, TmaTile::kThreads, CopyWay::turned>;
using TmaCopyB = EngineCopy<TmaTile::kColumns, TmaTile::kDepth, TmaTile::kStages>;
using TmaProduct = TileProduct<TmaTile, float, TmaCopyA, TmaCopyB>;
static_assert(TmaCopyA::kStageElements % 32 == 0, "boxes begin at multiples of 128 bytes");

__global__ void __launch_bounds__(TmaTile::kThreads, TmaTile::kShape.blocks)
    tma_kernel(const __grid_constant__ Problem problem, const __grid_constant__ Schedule schedule,
               const __grid_constant__ TensorMap map_b, OutputWay way) {
  ROOFTILE_DYN_SHARED(uint4, s_bytes);
  __shared__ Mbarrier s_full[TmaTile::kStages];
  auto* s_memory = reinterpret_cast<float*>(s_bytes);
  if (threadIdx.x == 0) {
    for (Mbarrier& s_barrier : s_full) mbarrier_init(&s_barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are initialised
  const PlaceOf<TmaTile> place(schedule.tile_rows, schedule.tile_columns, blockIdx.x);
  const TileSteps<TmaTile::kDepth> steps(problem.k, 0, schedule.steps);
  Sums<TmaTile, float> sums;
  sums.clear();
  TmaProduct(TmaCopyA(operand_a<float>(problem, 0), steps.first_line, place.row, problem.m),
             TmaCopyB(map_b, s_full, steps.first_line, place.column), steps, s_memory)
      .add(sums);
  TileResults<TmaTile, float>(sums, s_memory).give(problem, place, way, nullptr, false);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  const auto& schedule = call.config<Schedule>();
  if (schedule.blocks() > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
  TensorMapSpec spec{.data = const_cast<void*>(problem.b_data), .dtype = DType::f32, .rank = 2};
  spec.extents = {problem.n, problem.k};
  spec.strides = {1, problem.b.row};
  spec.box = {TmaTile::kColumns, TmaTile::kDepth};
  TensorMap map_b;
  ROOFTILE_TRY(make_tensor_map(map_b, spec));
  constexpr std::size_t kResults = TileResults<TmaTile, float>::kSharedBytes;
  return launch(tma_kernel,
                {.grid = dim3(static_cast<unsigned>(schedule.blocks())),
                 .block = dim3(TmaTile::kThreads),
                 .shared_bytes = TmaProduct::kSharedBytes > kResults ? TmaProduct::kSharedBytes : kResults,
                 .stream = call.stream},
                problem, schedule, map_b, output_way<float>(problem));
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
