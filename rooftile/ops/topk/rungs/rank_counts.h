// Thresholds and places of ranks in shared memory, by counting. Source: Knuth, The Art of Computer Programming 3, 5.2.
#pragma once

#include "rooftile/ops/topk/rungs/topk_device.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {

inline constexpr int kPivots = 64;

// Shared memory of what follows.
struct RankCounts {
  int pivots[2][kPivots];
  int best;
  // By all threads: a barrier stands in front of it and behind it.
  __device__ __forceinline__ void clear() {
    if (threadIdx.x < kPivots) pivots[0][threadIdx.x] = 0;
    if (threadIdx.x == 0) best = 0;
  }
};

// A number that k at least of `count` ranks are not below; at most `most` are. The lowest rank where there are no more than
// `few`. By all threads of a block; `s` is clear.
template <int kBlock, class Rank>
__device__ __forceinline__ Rank threshold_of(const Rank* s_ranks, int count, int k, int few, int most,
                                             RankCounts& s) {
  constexpr int kWarps = kBlock / kWarpSize;
  constexpr int kOwn = kPivots / kWarpSize;  // of a lane
  if (count <= few) return Ranks<Rank>::lowest();
  const int lane = lane_index();
  for (int round = 0;; ++round) {
    // Ranks at even distances, in every round other ones, until k are not below one of them, and few others.
    int* s_found = s.pivots[round % 2];
    Rank pivots[kOwn];
    int found[kOwn] = {};
#pragma unroll
    for (int p = 0; p < kOwn; ++p)
      pivots[p] = s_ranks[((p * kWarpSize + lane) * count / kPivots + round) % count];
      // Each warp counts among some of them for all pivots.
#pragma unroll 4
    for (int i = warp_index(); i < count; i += kWarps) {
      const Rank x = s_ranks[i];
#pragma unroll
      for (int p = 0; p < kOwn; ++p) found[p] += is_above(pivots[p], x) ? 0 : 1;
    }
#pragma unroll
    for (int p = 0; p < kOwn; ++p) atomicAdd(&s_found[p * kWarpSize + lane], found[p]);
    __syncthreads();  // all have counted
    int fewest = count;
    Rank threshold = Ranks<Rank>::lowest();
#pragma unroll
    for (int p = 0; p < kOwn; ++p) {
      const int theirs = s_found[p * kWarpSize + lane];
      if (theirs < k || theirs >= fewest) continue;
      fewest = theirs;
      threshold = pivots[p];
    }
    const int best = __reduce_min_sync(kFullMask, fewest);
    // The next round's counts; nobody reads them any more.
    if (threadIdx.x < kPivots) s.pivots[(round + 1) % 2][threadIdx.x] = 0;
    const unsigned lanes = __ballot_sync(kFullMask, static_cast<int>(fewest == best && best < count));
    if (lanes != 0 && best <= most) return shuffle(threshold, __ffs(static_cast<int>(lanes)) - 1);
    // All have been pivots: there are fewer than k ranks above the lowest.
    if (round * kPivots >= count) return Ranks<Rank>::lowest();
    __syncthreads();  // no counts, and the old ones have been read
  }
}

// The k first of `count` ranks, in their order, to the results of a row. s_best: room for topk_plan::kBestRanks. By all threads of a
// block; `s` is clear.
template <int kBlock, class Rank, class Bits>
__device__ __forceinline__ void give_best(const Results<Bits>& results, std::int64_t row, const Rank* s_ranks,
                                          int count, Rank* s_best, RankCounts& s) {
  const int k = static_cast<int>(results.k);
  const Rank threshold = threshold_of<kBlock>(s_ranks, count, k, static_cast<int>(topk_plan::most_of(k)),
                                              topk_plan::kBestRanks, s);
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < count; i += kBlock) {
    const Rank x = s_ranks[i];
    if (!is_above(threshold, x)) s_best[atomicAdd(&s.best, 1)] = x;
  }
  __syncthreads();  // the best are there
  const int best = s.best;
  // As many lanes count for one of them as there are threads for it.
  int lanes = kWarpSize;
  while (lanes > 1 && lanes * best > kBlock) lanes /= 2;
  for (int first = 0; first < best; first += kBlock / lanes) {
    const int i = first + thread / lanes;
    const Rank mine = i < best ? s_best[i] : Ranks<Rank>::lowest();
    int above = 0;
    for (int j = thread % lanes; j < best; j += lanes) above += is_above(s_best[j], mine) ? 1 : 0;
    for (int distance = lanes / 2; distance > 0; distance /= 2) above += shuffle_xor(above, distance);
    if (i < best && thread % lanes == 0 && above < k) results.give(row, above, mine);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
