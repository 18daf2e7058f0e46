// A block's share of a grid-wide reduction, as the vectorized rungs read it.
#pragma once

#include "rooftile/device/block.h"
#include "rooftile/device/vec.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {

// Combines the elements that fall to this thread: tiles of kGridBlock * kVectorsInFlight vectors, one grid of tiles
// after the other; the elements in front of the first 16-byte boundary and behind the last go to block 0.
template <class Reduction>
__device__ __forceinline__ typename Reduction::Acc thread_partial(const typename Reduction::In* __restrict__ g_in,
                                                                  std::int64_t n) {
  using In = typename Reduction::In;
  using Acc = typename Reduction::Acc;
  constexpr int kElements = kVecElements<In>;
  constexpr int kInFlight = reduce_plan::kVectorsInFlight;
  constexpr std::int64_t kTileVectors = std::int64_t{reduce_plan::kGridBlock} * kInFlight;
  const Reduction combine;

  const std::int64_t head = elements_to_alignment(g_in, n);
  const In* g_body = g_in + head;
  const std::int64_t vectors = (n - head) / kElements;

  // An accumulator per vector in flight and lane of it: no addition waits for another of its tile.
  Acc acc[kInFlight];
#pragma unroll
  for (int v = 0; v < kInFlight; ++v) acc[v] = Reduction::identity();

  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * kTileVectors;
  std::int64_t tile = static_cast<std::int64_t>(blockIdx.x) * kTileVectors;
  for (; tile + kTileVectors <= vectors; tile += stride) {
    Vec<In, kElements> r_vectors[kInFlight];
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      r_vectors[v] = load_vec(g_body + (tile + v * reduce_plan::kGridBlock + threadIdx.x) * kElements);
    }
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
#pragma unroll
      for (int e = 0; e < kElements; ++e) acc[v] = combine(acc[v], static_cast<Acc>(r_vectors[v][e]));
    }
  }
  if (tile < vectors) {  // the last, partial tile: at most one block has one
    for (std::int64_t i = tile + threadIdx.x; i < vectors; i += reduce_plan::kGridBlock) {
      const Vec<In, kElements> r_vector = load_vec(g_body + i * kElements);
#pragma unroll
      for (int e = 0; e < kElements; ++e) acc[0] = combine(acc[0], static_cast<Acc>(r_vector[e]));
    }
  }
  if (blockIdx.x == 0) {
    const std::int64_t tail = head + vectors * kElements;
    const auto thread = static_cast<std::int64_t>(threadIdx.x);
    if (thread < head) acc[1] = combine(acc[1], static_cast<Acc>(g_in[thread]));
    if (tail + thread < n) acc[2] = combine(acc[2], static_cast<Acc>(g_in[tail + thread]));
  }
  Acc total = acc[0];
#pragma unroll
  for (int v = 1; v < kInFlight; ++v) total = combine(total, acc[v]);
  return total;
}

// Combines `count` partial results of other blocks over this block; thread 0 returns the result.
template <class Reduction>
__device__ __forceinline__ typename Reduction::Acc combine_partials(
    const typename Reduction::Acc* g_partials, int count,
    typename Reduction::Acc (&s_warp_values)[reduce_plan::kGridBlock / kWarpSize]) {
  const Reduction combine;
  auto mine = Reduction::identity();
  for (int i = static_cast<int>(threadIdx.x); i < count; i += reduce_plan::kGridBlock) {
    mine = combine(mine, __ldcg(&g_partials[i]));  // from L2, where the other blocks' results are
  }
  return block_reduce<reduce_plan::kGridBlock>(mine, Reduction::identity(), s_warp_values, combine);
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
