// Blocks that stay.
//
// Idea       as many blocks as the device holds, each with small tiles one after the other. The stages of shared memory run on from
//            one tile into the next: while one is multiplied and given, the next one's operands are on their way.
// Change     batches of small products, whose tiles have a few steps each: blocks that begin together wait together, and multiply
//            together while nothing is on its way.
// Limits     f32; any strides, by 16 bytes where rows of a and of b allow it.
// Bottleneck global memory; loads from shared memory.
#include "rooftile/ops/gemm/rungs/persistent_tile.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

template <int kSide, bool kVectors>
Status launch_side(const Call<GemmArgs>& call, const Problem& problem) {
  using Tile = PersistentTile<kSide>;
  return launch(persistent_kernel<kSide, kVectors>,
                {.grid = dim3(static_cast<unsigned>(call.config<PersistentCut>().blocks)),
                 .block = dim3(Tile::kThreads),
                 .shared_bytes = Tile::kSharedBytes,
                 .stream = call.stream},
                problem, call.config<PersistentCut>(), output_way<float>(problem));
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  const auto& cut = call.config<PersistentCut>();
  if (cut.tiles > kMaxGrid) return unsupported("more than 2^31 - 1 tiles");
  const gemm_plan::CopyWays ways = gemm_plan::copy_ways(problem, sizeof(float));
  const bool vectors = ways.a == CopyWay::turned && ways.b == CopyWay::along;
  if (cut.side == 32)
    return vectors ? launch_side<32, true>(call, problem) : launch_side<32, false>(call, problem);
  return vectors ? launch_side<64, true>(call, problem) : launch_side<64, false>(call, problem);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
