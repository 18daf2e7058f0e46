// Parts of a tile that meet in a cluster.
//
// Idea       up to 16 blocks have a tile together, and some of its steps each. They are a cluster: each adds up a share of the tile's
//            sums, reading what the others have through distributed shared memory, always in the same order. Tiles are sliced, or
//            narrow where there are few.
// Change     stream_k's second kernel, and its parts' way to memory and back, are gone: a small product is one launch.
// Limits     sm_90a; f32; strides that are not negative. More than 8 blocks ask for a cluster that not every GPU has: H100 and H200 do.
// Bottleneck latency: launch, the first steps' loads, two barriers of the cluster.
// Source     PTX ISA, distributed shared memory.
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/ops/gemm/rungs/tile_schedule.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {
namespace {

template <class ClusterTile, CopyWay kWayA, CopyWay kWayB>
__global__ void __launch_bounds__(ClusterTile::kThreads, ClusterTile::kShape.blocks)
    cluster_kernel(const __grid_constant__ Problem problem, const __grid_constant__ Schedule schedule,
                   OutputWay way) {
  using Results = TileResults<ClusterTile, float>;
  using CopyA = OperandCopy<float, ClusterTile::kRows, ClusterTile::kDepth, ClusterTile::kThreads, kWayA>;
  using CopyB = OperandCopy<float, ClusterTile::kColumns, ClusterTile::kDepth, ClusterTile::kThreads, kWayB>;
  ROOFTILE_DYN_SHARED(uint4, s_bytes);
  auto* s_memory = reinterpret_cast<float*>(s_bytes);
  const unsigned parts = cluster_blocks();
  const unsigned part = cluster_rank();
  const PlaceOf<ClusterTile> place(schedule.tile_rows, schedule.tile_columns, blockIdx.x / parts);
  const auto all = static_cast<std::uint32_t>(schedule.steps);
  const TileSteps<ClusterTile::kDepth> steps(problem.k, gemm_plan::first_step(all, parts, part),
                                             gemm_plan::first_step(all, parts, part + 1));
  Sums<ClusterTile, float> sums;
  sums.clear();
  TileProduct<ClusterTile, float, CopyA, CopyB>(
      CopyA(operand_a<float>(problem, place.batch), steps.first_line, place.row, problem.m),
      CopyB(operand_b<float>(problem, place.batch), steps.first_line, place.column, problem.n), steps,
      s_memory)
      .add(sums);
  sums.scale(static_cast<float>(problem.alpha));
  const Results results(sums, s_memory);
  results.gather();
  const auto own = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int v = own; v < Results::kVectors; v += ClusterTile::kThreads)
    store_vec(results.place_of(v), results.sum_of(v));
  cluster_sync();  // every block's sums are there
  const Output<float> output(problem, place.batch, 1.0f);
  const int step = static_cast<int>(parts) * ClusterTile::kThreads;
  int v = static_cast<int>(part) * ClusterTile::kThreads + own;
  if (v >= Results::kVectors) cluster_arrive();
#pragma unroll 1
  for (; v < Results::kVectors; v += step) {
    typename Results::Vector vec{};
#pragma unroll 4
    for (unsigned p = 0; p < parts; ++p) {
      const auto other = load_vec(map_shared_rank(results.place_of(v), p));
#pragma unroll
      for (int e = 0; e < ClusterTile::kVector; ++e) vec[e] += other[e];
    }
    // All that this thread reads of other blocks has been read: what it writes need not be waited for.
    if (v + step >= Results::kVectors) cluster_arrive();
    output.give(vec, place.row + v / Results::kLine, place.column + v % Results::kLine * ClusterTile::kVector,
                way.vectors);
  }
  cluster_wait();  // nobody reads another block's shared memory any more
}

template <class ClusterTile, CopyWay kWayA, CopyWay kWayB>
Status launch_tile(const Call<GemmArgs>& call, const Problem& problem) {
  using CopyA = OperandCopy<float, ClusterTile::kRows, ClusterTile::kDepth, ClusterTile::kThreads, kWayA>;
  using CopyB = OperandCopy<float, ClusterTile::kColumns, ClusterTile::kDepth, ClusterTile::kThreads, kWayB>;
  constexpr std::size_t kProduct = TileProduct<ClusterTile, float, CopyA, CopyB>::kSharedBytes;
  constexpr std::size_t kResults = TileResults<ClusterTile, float>::kSharedBytes;
  const auto& schedule = call.config<Schedule>();
  if (schedule.blocks() > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
  return launch(cluster_kernel<ClusterTile, kWayA, kWayB>,
                {.grid = dim3(static_cast<unsigned>(schedule.blocks())),
                 .block = dim3(ClusterTile::kThreads),
                 .shared_bytes = kProduct > kResults ? kProduct : kResults,
                 .stream = call.stream,
                 .cluster = dim3(static_cast<unsigned>(schedule.units / schedule.split_tiles))},
                problem, schedule, output_way<float>(problem));
}

template <CopyWay kWayA, CopyWay kWayB>
Status launch_clusters(const Call<GemmArgs>& call, const Problem& problem) {
  return call.config<Schedule>().size == TileSize::narrow
             ? launch_tile<Tile<float, TileSize::narrow>, kWayA, kWayB>(call, problem)
             : launch_tile<Tile<float, TileSize::sliced>, kWayA, kWayB>(call, problem);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemmArgs>& call) {
  const Problem problem = gemm_plan::problem_of(call.args);
  if (problem.is_empty()) return {};
  const gemm_plan::CopyWays ways = gemm_plan::copy_ways(problem, sizeof(float));
  if (ways.a == CopyWay::single) return launch_clusters<CopyWay::single, CopyWay::single>(call, problem);
  const bool is_turned = ways.b == CopyWay::turned;
  if (ways.a == CopyWay::along)
    return is_turned ? launch_clusters<CopyWay::along, CopyWay::turned>(call, problem)
                     : launch_clusters<CopyWay::along, CopyWay::along>(call, problem);
  return is_turned ? launch_clusters<CopyWay::turned, CopyWay::turned>(call, problem)
                   : launch_clusters<CopyWay::turned, CopyWay::along>(call, problem);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
