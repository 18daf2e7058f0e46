// Rows of contiguous elements, each reduced by one or several blocks; the last block of a row finishes it.
// Kernel machinery behind reduce_with() (reduce_functor.h) and the grid-wide rungs.
#pragma once

#include "rooftile/core/workspace.h"
#include "rooftile/device/align.h"
#include "rooftile/device/block.h"
#include "rooftile/device/last_block.h"
#include "rooftile/device/launch.h"
#include "rooftile/ops/reduce/reduce_output.h"
#include "rooftile/ops/reduce/reduce_plan.h"

namespace rooftile::ROOFTILE_TARGET {
namespace reduce_rungs {

// Combines this thread's share of a row of n elements: tiles of kGridBlock * kVectorsInFlight vectors, every
// `parts`-th from `part` on. The elements in front of the first line and behind the last vector go to part 0: on an H200,
// 494 MB of f32 off by one element take 127.1 us so in place of 132.6, and through bulk_ring 122.7 in place of 153.3.
template <LoadPolicy kPolicy, class Reduction>
__device__ __forceinline__ typename Reduction::Acc thread_partial(
    const Reduction& reduction, const typename Reduction::In* __restrict__ g_row, std::int64_t n,
    std::int64_t part, std::int64_t parts, int loads) {
  using In = typename Reduction::In;
  using Acc = typename Reduction::Acc;
  constexpr int kElements = kVecElements<In>;
  constexpr int kInFlight = reduce_plan::kVectorsInFlight;
  constexpr int kBlock = reduce_plan::kGridBlock;
  const auto thread = static_cast<std::int64_t>(threadIdx.x);

  static_assert(kLineBytes <= reduce_plan::kGridBlock, "a thread takes one of them at most");
  const std::int64_t head = elements_to_line(g_row, n);
  const In* g_body = g_row + head;
  const std::int64_t vectors = (n - head) / kElements;

  // An accumulator per vector in flight: no vector of a tile waits for another.
  Acc acc[kInFlight];
#pragma unroll
  for (int v = 0; v < kInFlight; ++v) acc[v] = reduction.identity();

  // Fewer loads than kInFlight: one tile per part (see split_row).
  const std::int64_t tile_vectors = std::int64_t{kBlock} * loads;
  std::int64_t tile = part * tile_vectors;
  for (; loads == kInFlight && tile + tile_vectors <= vectors; tile += parts * tile_vectors) {
    Vec<In, kElements> r_vectors[kInFlight];
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      r_vectors[v] = load_vec<kPolicy>(g_body + (tile + v * kBlock + thread) * kElements);
    }
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      acc[v] = take_vec(reduction, acc[v], r_vectors[v], head + (tile + v * kBlock + thread) * kElements);
    }
  }
  if (tile < vectors) {  // a small or partial tile: at most one per part
    // Four at a time, not unrolled further: a small input pays for every line of code that is fetched cold.
    constexpr int kStep = 4;
#pragma unroll 1
    for (int base = 0; base < loads; base += kStep) {
      Vec<In, kElements> r_vectors[kStep];
#pragma unroll
      for (int v = 0; v < kStep; ++v) {
        const std::int64_t i = tile + (base + v) * kBlock + thread;
        if (base + v < loads && i < vectors) r_vectors[v] = load_vec<kPolicy>(g_body + i * kElements);
      }
#pragma unroll
      for (int v = 0; v < kStep; ++v) {
        const std::int64_t i = tile + (base + v) * kBlock + thread;
        if (base + v < loads && i < vectors) {
          acc[v] = take_vec(reduction, acc[v], r_vectors[v], head + i * kElements);
        }
      }
    }
  }
  if (part == 0) {
    const std::int64_t tail = head + vectors * kElements;
    if (thread < head) acc[1] = reduction.take(acc[1], g_row[thread], thread);
    if (tail + thread < n) acc[2] = reduction.take(acc[2], g_row[tail + thread], tail + thread);
  }
#pragma unroll
  for (int width = kInFlight / 2; width > 0; width /= 2) {
#pragma unroll
    for (int v = 0; v < width; ++v) acc[v] = reduction.combine(acc[v], acc[v + width]);
  }
  return acc[0];
}

template <class Reduction>
using WarpSlots = typename Reduction::Acc[reduce_plan::kGridBlock / kWarpSize];

// Combines `count` partial results of other blocks over this block; thread 0 returns the result.
template <class Reduction>
__device__ __forceinline__ typename Reduction::Acc combine_partials(const Reduction& reduction,
                                                                    const typename Reduction::Acc* g_partials,
                                                                    std::int64_t count,
                                                                    WarpSlots<Reduction>& s_warp_values) {
  const auto combine = [&](auto a, auto b) { return reduction.combine(a, b); };
  auto mine = reduction.identity();
  for (std::int64_t i = threadIdx.x; i < count; i += reduce_plan::kGridBlock)
    mine = combine(mine, g_partials[i]);
  return block_reduce<reduce_plan::kGridBlock>(mine, reduction.identity(), s_warp_values, combine);
}

// Block b takes part b % parts of row b / parts. g_partials: parts accumulators per row; g_tickets: a zeroed
// counter per row, zero again at the end. Neither is touched where parts is 1.
template <LoadPolicy kPolicy, class Reduction>
__global__ void __launch_bounds__(reduce_plan::kGridBlock, reduce_plan::kResidentBlocks)
    reduce_rows_kernel(const typename Reduction::In* __restrict__ g_in, std::int64_t n, int parts, int loads,
                       typename Reduction::Acc* g_partials, std::uint32_t* g_tickets, Reduction reduction,
                       ReduceOutput out) {
  __shared__ WarpSlots<Reduction> s_warp_values;
  const std::int64_t row = blockIdx.x / static_cast<unsigned>(parts);
  const std::int64_t part = blockIdx.x % static_cast<unsigned>(parts);
  const auto combine = [&](auto a, auto b) { return reduction.combine(a, b); };

  auto total = block_reduce<reduce_plan::kGridBlock>(
      thread_partial<kPolicy>(reduction, g_in + row * n, n, part, parts, loads), reduction.identity(),
      s_warp_values, combine);
  if (parts > 1) {
    auto* g_row_partials = g_partials + row * parts;
    if (threadIdx.x == 0) g_row_partials[part] = total;
    if (!is_last_block(&g_tickets[row], static_cast<std::uint32_t>(parts))) return;
    // is_last_block is a barrier: s_warp_values may be written again.
    total = combine_partials(reduction, g_row_partials, parts, s_warp_values);
  }
  if (threadIdx.x == 0) reduction.store(out, row, total);
}

// Largest number of blocks along x.
inline constexpr std::int64_t kMaxGrid = 2147483647;

template <LoadPolicy kPolicy, class Reduction>
Status launch_reduce_rows(const Reduction& reduction, StreamRef stream, const reduce_plan::Cut& cut,
                          const typename Reduction::In* g_in, const ReduceOutput& out,
                          const Workspace& workspace) {
  using Acc = typename Reduction::Acc;
  static_assert(sizeof(Acc) <= reduce_plan::kAccumulatorBytes,
                "the workspace holds accumulators up to this size");
  const std::int64_t rows = cut.shape.outer;
  if (rows == 0) return {};
  if (rows * cut.blocks > kMaxGrid) return unsupported("more than 2^31 - 1 rows");
  return launch(reduce_rows_kernel<kPolicy, Reduction>,
                {.grid = dim3(static_cast<unsigned>(rows * cut.blocks)),
                 .block = dim3(reduce_plan::kGridBlock),
                 .stream = stream},
                g_in, cut.shape.reduced, static_cast<int>(cut.blocks), static_cast<int>(cut.loads),
                static_cast<Acc*>(workspace.data), static_cast<std::uint32_t*>(workspace.zeroed), reduction,
                out);
}

}  // namespace reduce_rungs

}  // namespace rooftile::ROOFTILE_TARGET
