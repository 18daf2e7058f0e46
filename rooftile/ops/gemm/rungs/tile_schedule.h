// Blocks that compute ranges of steps of tiles, by a schedule that the host has made (gemm_plan::Schedule).
#pragma once

#include <cstdint>

#include "rooftile/ops/gemm/rungs/tile_product.h"
#include "rooftile/ops/gemm/rungs/tile_results.h"

namespace rooftile::ROOFTILE_TARGET::gemm_rungs {

using gemm_plan::Schedule;

// The parts of a split tile, each a unit's.
template <class Int>
class TileParts {
 public:
  __device__ __forceinline__ TileParts(const Schedule& schedule, Int tile)
      : steps_(static_cast<Int>(schedule.steps * schedule.split_tiles)),
        units_(static_cast<Int>(schedule.units)),
        tile_first_(tile * static_cast<Int>(schedule.steps)),
        first_unit_(gemm_plan::unit_of(steps_, units_, tile_first_)),
        last_unit_(gemm_plan::unit_of(steps_, units_, static_cast<Int>(tile_first_ + schedule.steps - 1))) {}
  [[nodiscard]] __device__ __forceinline__ Int first_unit() const { return first_unit_; }
  [[nodiscard]] __device__ __forceinline__ Int last_unit() const { return last_unit_; }
  [[nodiscard]] __device__ __forceinline__ Int count() const { return last_unit_ - first_unit_ + 1; }
  // Where a unit's sums of this tile are: the tile in which it begins is its first.
  [[nodiscard]] __device__ __forceinline__ std::int64_t slot(Int unit) const {
    const bool begins_here = gemm_plan::first_step(steps_, units_, unit) >= tile_first_;
    return 2 * std::int64_t{unit} + (begins_here ? 0 : 1);
  }

 private:
  Int steps_;
  Int units_;
  Int tile_first_;
  Int first_unit_;
  Int last_unit_;
};

// The first `units` blocks have a range of steps of the split tiles each, the others a whole tile. Sums of a part of a tile go to
// g_sums, which has room for two tiles of each unit: that in which it begins, and that in which it ends. Where it is is computed in 64
// bits: in 32 the compiler finds other registers for the loop, which meet in banks (README).
template <class Tile, class T, CopyWay kWayA, CopyWay kWayB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kShape.blocks)
    tiles_kernel(const __grid_constant__ Problem problem, const __grid_constant__ Schedule schedule,
                 T* g_sums, OutputWay way) {
  using CopyA = OperandCopy<T, Tile::kRows, Tile::kDepth, Tile::kThreads, kWayA>;
  using CopyB = OperandCopy<T, Tile::kColumns, Tile::kDepth, Tile::kThreads, kWayB>;
  ROOFTILE_DYN_SHARED(uint4, s_bytes);
  T* s_memory = reinterpret_cast<T*>(s_bytes);
  const std::int64_t block = blockIdx.x;
  std::int64_t tile = schedule.split_tiles + block - schedule.units;
  std::int64_t first = 0;
  std::int64_t left = schedule.steps;  // of the block
  if (block < schedule.units) {
    const std::int64_t steps = schedule.split_tiles * schedule.steps;
    const std::int64_t step = gemm_plan::first_step(steps, schedule.units, block);
    left = gemm_plan::first_step(steps, schedule.units, block + 1) - step;
    tile = step / schedule.steps;
    first = step - tile * schedule.steps;
  }
#pragma unroll 1
  while (true) {
    const std::int64_t last = smaller(schedule.steps, first + left);
    const PlaceOf<Tile> place(schedule.tile_rows, schedule.tile_columns, tile);
    const TileSteps<Tile::kDepth> steps(problem.k, first, last);
    Sums<Tile, T> sums;
    sums.clear();
    TileProduct<Tile, T, CopyA, CopyB>(
        CopyA(operand_a<T>(problem, place.batch), steps.first_line, place.row, problem.m),
        CopyB(operand_b<T>(problem, place.batch), steps.first_line, place.column, problem.n), steps, s_memory)
        .add(sums);
    T* g_part = nullptr;
    if (last - first < schedule.steps)
      g_part = g_sums + TileParts<std::int64_t>(schedule, tile).slot(block) * (Tile::kRows * Tile::kColumns);
    left -= last - first;
    TileResults<Tile, T>(sums, s_memory).give(problem, place, way, g_part, left > 0);
    if (left == 0) return;
    ++tile;
    first = 0;
  }
}

// Adds up the parts of split tiles, always in the same order. kGroups threads have some of the parts of one vector each, and meet in
// shared memory: one where parts are few.
inline constexpr int kCombineThreads = 256;
template <class Tile, class T, int kGroups>
__global__ void __launch_bounds__(kCombineThreads)
    combine_kernel(const __grid_constant__ Problem problem, const __grid_constant__ Schedule schedule,
                   const T* g_sums, OutputWay way) {
  using Vector = Vec<T, Tile::kVector>;
  constexpr int kVectors = kCombineThreads / kGroups;                               // of a block
  constexpr int kBlocks = Tile::kRows * Tile::kColumns / Tile::kVector / kVectors;  // to a tile
  constexpr int kAtOnce = 8;
  __shared__ __align__(16) Vector s_sums[kGroups][kVectors];
  const std::uint32_t tile = blockIdx.x / kBlocks;
  const int lane = static_cast<int>(threadIdx.x) % kVectors;
  const int group = static_cast<int>(threadIdx.x) / kVectors;
  const int vector = static_cast<int>(blockIdx.x % kBlocks) * kVectors + lane;
  const TileParts<std::uint32_t> parts(schedule, tile);
  if (parts.count() == 1) return;  // of all threads: the tile is there
  const std::int64_t each = ceil_div(std::int64_t{parts.count()}, kGroups);
  const std::int64_t first = parts.first_unit() + group * each;
  const std::int64_t end = smaller(first + each, std::int64_t{parts.last_unit()} + 1);
  Vector sum{};
#pragma unroll 1
  for (std::int64_t unit = first; unit < end; unit += kAtOnce) {
    Vector vecs[kAtOnce] = {};
#pragma unroll
    for (int p = 0; p < kAtOnce; ++p) {
      if (unit + p < end) {
        const std::int64_t slot = parts.slot(static_cast<std::uint32_t>(unit + p));
        vecs[p] = load_vec(g_sums + slot * (Tile::kRows * Tile::kColumns) + vector * Tile::kVector);
      }
    }
#pragma unroll
    for (int p = 0; p < kAtOnce; ++p)
#pragma unroll
      for (int e = 0; e < Tile::kVector; ++e) sum[e] += vecs[p][e];
  }
  if constexpr (kGroups > 1) {
    s_sums[group][lane] = sum;
    __syncthreads();  // all sums are there
    if (group != 0) return;
#pragma unroll
    for (int g = 1; g < kGroups; ++g)
#pragma unroll
      for (int e = 0; e < Tile::kVector; ++e) sum[e] += s_sums[g][lane][e];
  }
  const PlaceOf<Tile> place(schedule.tile_rows, schedule.tile_columns, tile);
  constexpr int kLine = Tile::kColumns / Tile::kVector;
  Output<T>(problem, place.batch)
      .give(sum, place.row + vector / kLine, place.column + vector % kLine * Tile::kVector, way.vectors);
}

template <class Tile, class T, int kGroups>
Status launch_combine(const Call<GemmArgs>& call, const Problem& problem, const OutputWay& way) {
  const auto& schedule = call.config<Schedule>();
  constexpr std::int64_t kBlocks = Tile::kRows * Tile::kColumns / Tile::kVector * kGroups / kCombineThreads;
  return launch(combine_kernel<Tile, T, kGroups>,
                {.grid = dim3(static_cast<unsigned>(schedule.split_tiles * kBlocks)),
                 .block = dim3(kCombineThreads),
                 .stream = call.stream},
                problem, schedule, static_cast<const T*>(call.workspace.data), way);
}

template <class Tile, class T, CopyWay kWayA, CopyWay kWayB>
Status launch_tiles(const Call<GemmArgs>& call, const Problem& problem) {
  const auto& schedule = call.config<Schedule>();
  using CopyA = OperandCopy<T, Tile::kRows, Tile::kDepth, Tile::kThreads, kWayA>;
  using CopyB = OperandCopy<T, Tile::kColumns, Tile::kDepth, Tile::kThreads, kWayB>;
  constexpr std::size_t kProduct = TileProduct<Tile, T, CopyA, CopyB>::kSharedBytes;
  constexpr std::size_t kResults = TileResults<Tile, T>::kSharedBytes;
  if (schedule.blocks() > kMaxGrid) return unsupported("more than 2^31 - 1 blocks");
  auto* g_sums = static_cast<T*>(call.workspace.data);
  const OutputWay way = output_way<T>(problem);
  ROOFTILE_TRY(launch(tiles_kernel<Tile, T, kWayA, kWayB>,
                      {.grid = dim3(static_cast<unsigned>(schedule.blocks())),
                       .block = dim3(Tile::kThreads),
                       .shared_bytes = kProduct > kResults ? kProduct : kResults,
                       .stream = call.stream},
                      problem, schedule, g_sums, way));
  if (schedule.units == 0) return {};
  constexpr std::int64_t kFewParts = 16;
  return schedule.units <= kFewParts * schedule.split_tiles ? launch_combine<Tile, T, 1>(call, problem, way)
                                                            : launch_combine<Tile, T, 16>(call, problem, way);
}

}  // namespace rooftile::ROOFTILE_TARGET::gemm_rungs
