// Candidates in shared memory, whose threshold rises when there is no more room.
#pragma once

#include "rooftile/ops/topk/rungs/rank_counts.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {

// Of a full buffer, when its threshold rises.
inline constexpr int kMostKept = kBufferRanks / 2;

// Ranks that wait in shared memory, by all threads of a block.
template <class Rank>
class RankBuffer {
 public:
  __device__ __forceinline__ RankBuffer(Rank* s_ranks, int& s_count, RankCounts& s_counts)
      : s_ranks_(s_ranks), s_count_(s_count), s_counts_(s_counts) {}

  __device__ __forceinline__ void clear() {
    if (threadIdx.x == 0) s_count_ = 0;
    s_counts_.clear();
    __syncthreads();  // it is empty
  }
  // By any thread, for itself: whether there was room.
  __device__ __forceinline__ bool add(const Rank& rank) {
    const int at = atomicAdd(&s_count_, 1);
    if (at >= kBufferRanks) return false;
    s_ranks_[at] = rank;
    return true;
  }
  // Behind a barrier, as all that follows.
  [[nodiscard]] __device__ __forceinline__ int size() const {
    return s_count_ < kBufferRanks ? s_count_ : kBufferRanks;
  }
  // Of more than `most` keeps the k highest and some others, at most as many. No lower rank than what is returned is one of the k.
  __device__ __forceinline__ Rank keep_best(std::int64_t k, int most) {
    constexpr int kOwn = kBufferRanks / kThreads;
    const int count = size();
    const Rank threshold =
        threshold_of<kThreads>(s_ranks_, count, static_cast<int>(k), most, most, s_counts_);
    Rank own[kOwn];
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      const int at = i * kThreads + static_cast<int>(threadIdx.x);
      own[i] = at < count ? s_ranks_[at] : Ranks<Rank>::lowest();
    }
    __syncthreads();  // the ranks have been read
    clear();
#pragma unroll
    for (int i = 0; i < kOwn; ++i) {
      if (is_above(own[i], Ranks<Rank>::lowest()) && !is_above(threshold, own[i])) add(own[i]);
    }
    __syncthreads();  // the best are there
    return threshold;
  }
  // The highest first, k of them.
  template <class Bits>
  __device__ __forceinline__ void give_best(const Results<Bits>& results, std::int64_t row) {
    if (results.k <= topk_plan::kMostCounted) {
      topk_rungs::give_best<kThreads>(results, row, s_ranks_, size(), s_ranks_ + kBufferRanks, s_counts_);
      return;
    }
    // Places of many are found sooner by sorting.
    if (size() > kMostKept) keep_best(results.k, kMostKept);
    const int count = size();
    int padded = 2;
    while (padded < count) padded *= 2;
    for (int i = count + static_cast<int>(threadIdx.x); i < padded; i += kThreads)
      s_ranks_[i] = Ranks<Rank>::lowest();
    __syncthreads();  // padded
    sort_falling(s_ranks_, padded);
    results.give_all(row, s_ranks_);
  }

 private:
  Rank* s_ranks_;
  int& s_count_;
  RankCounts& s_counts_;
};

// Walks to the end. Where there is no more room, the threshold rises: of those that found some, k are not below the next one.
template <class Walk, class Rank>
__device__ __forceinline__ void add_all(Walk& walk, RankBuffer<Rank>& buffer, Rank threshold,
                                        std::int64_t k) {
  while (__syncthreads_or(walk.add_rest(buffer, threshold) ? 0 : 1) != 0)
    threshold = buffer.keep_best(k, kMostKept);
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
