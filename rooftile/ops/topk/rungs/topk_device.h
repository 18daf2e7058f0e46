// What the rungs share: rows as vectors, a bitonic sort, the best of a stream of candidates, and from arguments to types.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/rung.h"
#include "rooftile/device/covering_vectors.h"
#include "rooftile/device/dispatch.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/types.h"
#include "rooftile/device/warp.h"
#include "rooftile/ops/topk/topk.h"
#include "rooftile/ops/topk/topk_plan.h"
#include "rooftile/ops/topk/topk_ranks.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {

using topk_plan::kBufferRanks;
using topk_plan::kThreads;
// Dynamic shared memory of kernels that keep as many.
template <class Rank>
inline constexpr std::size_t kBufferBytes = kBufferRanks * sizeof(Rank);
inline constexpr std::int64_t kMaxGrid = 2147483647;  // blocks along x

// A row of a call's input, by vectors.
template <class Bits>
__device__ __forceinline__ CoveringVectors<Bits> row_vectors(const Bits* g_in, std::int64_t row,
                                                             std::int64_t n) {
  return CoveringVectors<Bits>::of(g_in + row * n, n);
}

// Of a bitonic sort's merge of runs of `size`, the steps from this distance on. s_ranks are `count` ranks of an array, the first
// of them its `base`-th; runs at even places fall. Threads kThreads; what is between two steps orders them, and the last.
template <class Rank>
__device__ __forceinline__ void merge_steps(Rank* s_ranks, int count, std::int64_t base, std::int64_t size,
                                            int distance) {
  for (; distance > 0; distance /= 2) {
    for (int pair = static_cast<int>(threadIdx.x); pair < count / 2; pair += kThreads) {
      const int low = 2 * pair - (pair & (distance - 1));
      const Rank a = s_ranks[low];
      const Rank b = s_ranks[low + distance];
      const bool falls = ((base + low) & size) == 0;
      if (falls ? is_above(b, a) : is_above(a, b)) {
        s_ranks[low] = b;
        s_ranks[low + distance] = a;
      }
    }
    // A warp's 32 pairs are 64 ranks: within them no other warp has a part.
    if (distance > kWarpSize) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
}

// Sorts, the highest first. `count`: a power of two. A barrier stands in front; behind it all see all.
template <class Rank>
__device__ __forceinline__ void sort_falling(Rank* s_ranks, int count) {
  for (int size = 2; size <= count; size *= 2) {
    if (size > 2 * kWarpSize) __syncthreads();  // a warp merges what others have sorted
    merge_steps(s_ranks, count, 0, size, size / 2);
  }
  __syncthreads();  // sorted
}

// The best k of the candidates that a block is offered. Candidates above a threshold wait in shared memory; when there are many,
// they are sorted, k are kept, and the threshold is the last of them.
template <class Rank>
class Best {
 public:
  using Key = typename Ranks<Rank>::Key;

  // By all threads, as all that follows. s_ranks: kBufferRanks. Ranks up to `threshold` are none of the best.
  __device__ __forceinline__ Best(Rank* s_ranks, int& s_count, std::int64_t k, const Rank& threshold)
      : s_ranks_(s_ranks), s_count_(s_count), k_(static_cast<int>(k)), threshold_(threshold) {
    if (threadIdx.x == 0) s_count_ = 0;
    __syncthreads();  // the count is there
  }

  // Each thread offers up to kCount elements, those whose bit is set; element j has key(j) and stands at index(j).
  template <int kCount, class KeyOf, class IndexOf>
  __device__ __forceinline__ void offer(unsigned mask, KeyOf key, IndexOf index) {
    static_assert(kCount <= 32);
    for (;;) {
      bool is_full = false;
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        if ((mask >> j & 1u) == 0) continue;
        const Key mine = key(j);
        if (mine < Ranks<Rank>::key(threshold_)) continue;
        const Rank rank = Ranks<Rank>::of(mine, index(j));
        if (!is_above(rank, threshold_)) continue;
        is_full = is_full || !push(rank, mask, j);
      }
      if (__syncthreads_or(static_cast<int>(is_full)) == 0) return;
      compact();
    }
  }
  // The best, sorted, in s_ranks; how many they are. Behind them up to a power of two there are lowest ranks.
  __device__ __forceinline__ int finish() {
    compact();
    return kept_;
  }

 private:
  static constexpr int kFull = kBufferRanks / 2;

  // Whether there is room for as many as there were; else, where there was none, the bit stays set.
  __device__ __forceinline__ bool push(const Rank& rank, unsigned& mask, int j) {
    const int at = atomicAdd(&s_count_, 1);
    if (at >= kBufferRanks) return false;
    s_ranks_[at] = rank;
    mask &= ~(1u << j);
    return at < kFull;
  }
  __device__ __forceinline__ void compact() {
    const int count = s_count_ < kBufferRanks ? s_count_ : kBufferRanks;
    int padded = 2;
    while (padded < count) padded *= 2;
    for (int i = count + static_cast<int>(threadIdx.x); i < padded; i += kThreads)
      s_ranks_[i] = Ranks<Rank>::lowest();
    __syncthreads();  // padded, and everybody has read the count
    sort_falling(s_ranks_, padded);
    kept_ = count < k_ ? count : k_;
    if (count >= k_) threshold_ = s_ranks_[k_ - 1];
    if (threadIdx.x == 0) s_count_ = kept_;
    __syncthreads();  // the count is there
  }

  Rank* s_ranks_;
  int& s_count_;
  int k_;
  Rank threshold_;
  int kept_ = 0;
};

// Where the results of a call go.
template <class Bits>
struct Results {
  const Bits* g_in;
  Bits* g_values;
  std::int64_t* g_indices;
  std::int64_t n;
  std::int64_t k;

  // Element `rank` of the row is its j-th.
  template <class Rank>
  __device__ __forceinline__ void give(std::int64_t row, std::int64_t j, const Rank& rank) const {
    const std::uint32_t index = Ranks<Rank>::index(rank);
    g_values[row * k + j] = g_in[row * n + index];
    g_indices[row * k + j] = index;
  }
  // The k first of these, by a block.
  template <class Rank>
  __device__ __forceinline__ void give_all(std::int64_t row, const Rank* s_ranks) const {
    for (std::int64_t j = threadIdx.x; j < k; j += kThreads) give(row, j, s_ranks[j]);
  }
};
template <class Bits>
Results<Bits> results_of(const TopkArgs& args) {
  return {static_cast<const Bits*>(args.in.data), static_cast<Bits*>(args.values.data),
          static_cast<std::int64_t*>(args.indices.data), topk_plan::rows_of(args).length, args.k};
}

// Calls body(order) with the KeyOrder of the call's elements.
template <class Floats, class Integers, class Body>
Status dispatch_orders(const TopkArgs& args, Body&& body) {
  const DType dtype = args.in.dtype;
  if (is_float(dtype)) {
    return dispatch(Floats{}, dtype == DType::bf16 ? DType::f16 : dtype, [&]<class T>() -> Status {
      return body(KeyOrder<BitsOf<sizeof(T)>, true>::of(dtype, args.largest));
    });
  }
  return dispatch(Integers{}, unsigned_of(dtype), [&]<class T>() -> Status {
    return body(KeyOrder<BitsOf<sizeof(T)>, false>::of(dtype, args.largest));
  });
}
// Every dtype. The checked build: one of each kind.
template <class Body>
Status dispatch_all(const TopkArgs& args, Body&& body) {
  using Floats = CompiledDTypes<DTypes<double, float, __half>, DTypes<float>>;
  using Integers = CompiledDTypes<DTypes<std::uint8_t, std::uint32_t, std::uint64_t>, DTypes<std::uint32_t>>;
  return dispatch_orders<Floats, Integers>(args, body);
}
// What the lesson rungs are compiled for.
template <class Body>
Status dispatch_lesson(const TopkArgs& args, Body&& body) {
  return dispatch_orders<DTypes<float>, DTypes<std::uint32_t>>(args, body);
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
