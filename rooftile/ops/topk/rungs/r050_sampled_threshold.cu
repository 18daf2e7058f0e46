// A threshold before the first element is kept.
//
// Idea       a chunk of 512 bytes in up to 64 is looked at first. The k-th of the maxima of groups of lanes, or one a little below,
//            is a threshold that k elements of the row at least are not below. One read of the row keeps these alone, without
//            a barrier; the last block takes the best of what all have kept.
// Change     rows of any length, by all multiprocessors, read once and a small part. A block that has no room for what is not
//            below the threshold, of rows in some order, reads its part a second time, and sorts in between.
// Limits     k up to 1024; rows of 16 KiB and more.
// Bottleneck DRAM; of rows below some MiB the two launches and the last block.
// Source     a threshold from a sample: Floyd and Rivest (1975), "Expected time bounds for selection"; queues: Johnson et al. (2017).
#include "rooftile/device/block.h"
#include "rooftile/device/last_block.h"
#include "rooftile/ops/topk/rungs/rank_counts.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

using topk_plan::kSampleBlocks;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kVectors = topk_plan::kVectors;
constexpr int kFilterVectors = 2 * kVectors;  // a thread has so many in flight
// Of as many as there is room for, not below a raised threshold.
constexpr int kRaisedMost = kBufferRanks / 2;

// Memory of a call; tickets are zero before and afterwards.
template <class Rank>
struct SampleMemory {
  Rank* g_maxima;            // of each row one for each group of lanes
  Rank* g_thresholds;        // of each row
  Rank* g_best;              // of each block of the filter k
  std::uint32_t* g_counts;   // how many of them there are
  std::uint32_t* g_tickets;  // two of each row
};

// kSampleBlocks blocks to a row, a warp's vectors out of `stride` times as many. `lanes` have one maximum.
template <class Order>
__global__ void __launch_bounds__(kThreads)
    sample_kernel(Order order, Results<typename Order::Bits> results, int lanes, int stride,
                  SampleMemory<typename Order::Rank> memory) {
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;
  constexpr int kElements = CoveringVectors<Bits>::kElements;
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_ranks = reinterpret_cast<Rank*>(s_memory);
  __shared__ RankCounts s_counts;
  const int block = static_cast<int>(blockIdx.x) % kSampleBlocks;
  const std::int64_t number = blockIdx.x / kSampleBlocks;
  const auto row = row_vectors(results.g_in, number, results.n);
  const int warp = block * kWarps + warp_index();
  Bits highest{};
  std::int64_t index_of_highest = -1;
  const std::int64_t step = std::int64_t{kSampleBlocks} * kWarps * stride * kWarpSize;
  for (std::int64_t first = std::int64_t{warp} * stride * kWarpSize + lane_index(); first < row.vectors;
       first += kVectors * step) {
    Vec<Bits, kElements> vecs[kVectors] = {};
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      if (first + v * step < row.vectors) vecs[v] = row.load(first + v * step);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const unsigned mask = row.mask(first + v * step);
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        const Bits place = order.place(vecs[v][j]);
        // Of equal ones the first.
        if ((mask >> j & 1u) == 0 || (place <= highest && index_of_highest >= 0)) continue;
        highest = place;
        index_of_highest = row.index(first + v * step) + j;
      }
    }
  }
  Rank mine = index_of_highest < 0
                  ? Ranks<Rank>::lowest()
                  : Ranks<Rank>::of(Order::key_at(highest), static_cast<std::uint32_t>(index_of_highest));
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    const Rank other = shuffle_xor(mine, distance);
    if (is_above(other, mine)) mine = other;
  }
  const int groups_of_block = kThreads / lanes;
  const int groups = groups_of_block * kSampleBlocks;
  Rank* g_maxima = memory.g_maxima + number * groups;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % lanes == 0) g_maxima[block * groups_of_block + thread / lanes] = mine;
  __syncthreads();  // the block's maxima are there before it takes its ticket
  if (!is_last_block(&memory.g_tickets[2 * number], kSampleBlocks)) return;
  for (int i = thread; i < groups; i += kThreads) s_ranks[i] = g_maxima[i];
  s_counts.clear();
  __syncthreads();  // all maxima are there
  const int k = static_cast<int>(results.k);
  const int most = static_cast<int>(topk_plan::most_of(k));
  const Rank threshold = threshold_of<kThreads>(s_ranks, groups, k, most, most, s_counts);
  if (thread == 0) memory.g_thresholds[number] = threshold;
}

// Tells of most vectors at once that they have no element from a threshold on; of floats a few words suffice: those from a positive
// threshold upwards, or from a negative one downwards, have its magnitude at least, and so have NaNs. Any other threshold of
// floats lets all vectors pass.
template <class Order>
class Sieve {
 public:
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;

  // The threshold is the element `least` of the row, or the lowest rank.
  __device__ __forceinline__ Sieve(const Order& order, const Bits* g_row, const Rank& least) {
    if constexpr (Order::kIsFloat) {
      if (!is_above(least, Ranks<Rank>::lowest())) return;
      const Bits bits = g_row[Ranks<Rank>::index(least)];
      const auto magnitude = static_cast<Bits>(bits & static_cast<Bits>(~Order::kSign));
      if (((bits ^ order.turn) & Order::kSign) == 0 && magnitude <= order.infinity) least_ = magnitude;
    } else {
      least_ = static_cast<Bits>(Ranks<Rank>::key(least) >> Order::kShift);
      flip_ = order.place(Bits{0});
    }
  }
  [[nodiscard]] __device__ __forceinline__ bool lets_pass(const uint4& vector) const {
    const std::uint32_t words[4] = {vector.x, vector.y, vector.z, vector.w};
    if constexpr (sizeof(Bits) == 1) {
      // Two to a word: a sum's bit 8 says that it is not below 2^8.
      const std::uint32_t flips = flip_ * 0x01010101u;
      const std::uint32_t rest = (0x100u - least_) * 0x00010001u;
      std::uint32_t sums = 0;
#pragma unroll
      for (const std::uint32_t word : words) {
        sums |= ((word ^ flips) & 0x00ff00ffu) + rest;
        sums |= ((word ^ flips) >> 8 & 0x00ff00ffu) + rest;
      }
      return (sums & 0x01000100u) != 0;
    } else if constexpr (sizeof(Bits) == 2) {
      const std::uint32_t rest = (0x8000u - least_) * 0x00010001u;
      std::uint32_t sums = 0;
#pragma unroll
      for (const std::uint32_t word : words) sums |= (word & 0x7fff7fffu) + rest;
      return (sums & 0x80008000u) != 0;
    } else {
      constexpr auto kMagnitude = static_cast<Bits>(~Order::kSign);
      Vec<Bits, kVecElements<Bits>> vec;
      memcpy(static_cast<void*>(&vec), &vector, kVecBytes);
      bool passes = false;
#pragma unroll
      for (int j = 0; j < kVecElements<Bits>; ++j)
        passes = passes || (Order::kIsFloat ? vec[j] & kMagnitude : vec[j] ^ flip_) >= least_;
      return passes;
    }
  }

 private:
  static_assert(Order::kIsFloat || sizeof(Bits) != 2, "16-bit words are compared by magnitude");
  Bits least_ = 0;  // 0: all pass
  Bits flip_ = 0;   // of integers
};

// The tiles of a row that a block has.
template <class Order>
struct PartTiles {
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;
  static constexpr int kElements = CoveringVectors<Bits>::kElements;
  const Order& order;
  const CoveringVectors<Bits>& row;
  unsigned part;
  unsigned parts;

  // Elements that are not below a threshold, as long as there is room; no thread waits for another one.
  __device__ __forceinline__ void add_to(Best<Rank>& best, const Rank& least) const {
    const auto place = static_cast<Bits>(Ranks<Rank>::key(least) >> Order::kShift);
    const Sieve<Order> sieve(order, row.g_first, least);
    bool has_room = true;
    const auto add = [&](std::int64_t index) {
      const Rank rank = Ranks<Rank>::of(order.key(row.g_first[index]), static_cast<std::uint32_t>(index));
      if (!is_above(least, rank)) has_room = best.add(rank) && has_room;
    };
    for_edges(add);
    for (std::int64_t tile = part; has_room && tile * kTile < row.vectors; tile += parts) {
      // Few pass: which ones is seen first, and then one after the other is read again.
      unsigned passed = 0;
      {
        uint4 vectors[kFilterVectors];
        load_whole(tile, vectors);
#pragma unroll
        for (int v = 0; v < kFilterVectors; ++v) passed |= sieve.lets_pass(vectors[v]) ? 1u << v : 0u;
      }
      for (; passed != 0; passed &= passed - 1) {
        const std::int64_t vector = at(tile, __ffs(static_cast<int>(passed)) - 1);
        if (!row.is_whole(vector)) continue;
        const Vec<Bits, kElements> vec = row.load(vector);
        unsigned mask = 0;
#pragma unroll
        for (int j = 0; j < kElements; ++j) mask |= order.place(vec[j]) >= place ? 1u << j : 0u;
        for (; mask != 0; mask &= mask - 1) add(row.index(vector) + __ffs(static_cast<int>(mask)) - 1);
      }
    }
  }
  // All elements, by all threads.
  __device__ __forceinline__ void offer_to(Best<Rank>& best) const {
    for (std::int64_t tile = part; tile * kTile < row.vectors; tile += parts) {
#pragma unroll 1
      for (int v = 0; v < kFilterVectors; ++v) {
        const std::int64_t first = row.index(at(tile, v));
        Vec<Bits, kElements> vec{};
        if (at(tile, v) < row.vectors) vec = row.load(at(tile, v));
        best.template offer<kElements>(
            row.mask(at(tile, v)), [&](int j) { return order.key(vec[j]); },
            [&](int j) { return static_cast<std::uint32_t>(first + j); });
      }
    }
  }

 private:
  static constexpr std::int64_t kTile = std::int64_t{kThreads} * kFilterVectors;

  [[nodiscard]] __device__ __forceinline__ static std::int64_t at(std::int64_t tile, int v) {
    return tile * kTile + v * kThreads + threadIdx.x;
  }
  // Zeros for vectors that hang over an end.
  __device__ __forceinline__ void load_whole(std::int64_t tile, uint4 (&vectors)[kFilterVectors]) const {
    const auto* g_first = reinterpret_cast<const uint4*>(row.g_first + row.index(at(tile, 0)));
    if (row.is_whole(tile * kTile) && row.is_whole(tile * kTile + kTile - 1)) {
#pragma unroll
      for (int v = 0; v < kFilterVectors; ++v) vectors[v] = g_first[v * kThreads];
    } else {
#pragma unroll
      for (int v = 0; v < kFilterVectors; ++v)
        vectors[v] = row.is_whole(at(tile, v)) ? g_first[v * kThreads] : uint4{};
    }
  }
  // Calls body(index) for the elements of vectors of the part that hang over an end, each by a thread of its own.
  template <class Body>
  __device__ __forceinline__ void for_edges(Body body) const {
    const int end = static_cast<int>(threadIdx.x) / kElements;
    const int j = static_cast<int>(threadIdx.x) % kElements;
    const std::int64_t v = end == 0 ? 0 : row.vectors - 1;
    if (end > (row.vectors > 1 ? 1 : 0) || row.is_whole(v) || v / kTile % parts != part) return;
    if ((row.mask(v) >> j & 1u) != 0) body(row.index(v) + j);
  }
};

// `parts` blocks to a row, tiles to them in turn.
template <class Order>
__global__ void __launch_bounds__(kThreads, topk_plan::kFilterBlocks)
    filter_kernel(Order order, Results<typename Order::Bits> results, unsigned parts,
                  SampleMemory<typename Order::Rank> memory) {
  using Rank = typename Order::Rank;
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_ranks = reinterpret_cast<Rank*>(s_memory);
  __shared__ int s_count;
  __shared__ int s_warps[kWarps];
  __shared__ RankCounts s_counts;
  const unsigned part = blockIdx.x % parts;
  const std::int64_t number = blockIdx.x / parts;
  const auto row = row_vectors(results.g_in, number, results.n);
  const Rank least = memory.g_thresholds[number];
  const Rank below = is_above(least, Ranks<Rank>::lowest()) ? Ranks<Rank>::below(least) : least;
  s_counts.clear();
  Best<Rank> best(s_ranks, s_count, results.k, below);
  const PartTiles<Order> tiles{order, row, part, parts};
  tiles.add_to(best, least);
  if (!best.keep_added()) {
    // Of those that found room, k are not below the next threshold.
    const Rank raised = threshold_of<kThreads>(s_ranks, kBufferRanks, static_cast<int>(results.k),
                                               kRaisedMost, kRaisedMost, s_counts);
    __syncthreads();  // the ranks have been read
    tiles.add_to(best, raised);
    if (!best.keep_added()) tiles.offer_to(best);
  }
  const int kept = best.finish_unsorted();
  const std::int64_t k = results.k;
  Rank* g_best = memory.g_best + number * parts * k;
  std::uint32_t* g_counts = memory.g_counts + number * parts;
  for (int j = static_cast<int>(threadIdx.x); j < kept; j += kThreads) g_best[part * k + j] = s_ranks[j];
  if (threadIdx.x == 0) g_counts[part] = static_cast<std::uint32_t>(kept);
  __syncthreads();  // the block has written before it takes its ticket
  if (!is_last_block(&memory.g_tickets[2 * number + 1], parts)) return;

  // Of a row in random order there is room for all of them at once. Places of many are found sooner by sorting.
  int count = 0;
  for (unsigned p = threadIdx.x; p < parts; p += kThreads) count += static_cast<int>(g_counts[p]);
  const int total = block_all_reduce<kThreads>(count, 0, s_warps, [](int a, int b) { return a + b; });
  if (total <= kBufferRanks && k <= topk_plan::kMostCounted) {
    if (threadIdx.x == 0) s_count = 0;
    s_counts.clear();
    __syncthreads();  // nothing is counted
    for (unsigned p = static_cast<unsigned>(warp_index()); p < parts; p += kWarps) {
      const int theirs = static_cast<int>(g_counts[p]);
      int at = 0;
      if (lane_index() == 0) at = atomicAdd(&s_count, theirs);
      at = warp_broadcast(at);
      for (int i = lane_index(); i < theirs; i += kWarpSize) s_ranks[at + i] = g_best[p * k + i];
    }
    __syncthreads();  // all are there
    give_best<kThreads>(results, number, s_ranks, total, s_ranks + kBufferRanks, s_counts);
    return;
  }
  Best<Rank> best_of_all(s_ranks, s_count, results.k, below);
  for (std::int64_t first = 0; first < parts * k; first += kThreads) {
    const std::int64_t i = first + threadIdx.x;
    Rank rank = Ranks<Rank>::lowest();
    if (i < parts * k && i % k < g_counts[i / k]) rank = g_best[i];
    best_of_all.template offer<1>(
        is_above(rank, Ranks<Rank>::lowest()) ? 1u : 0u, [&](int) { return Ranks<Rank>::key(rank); },
        [&](int) { return Ranks<Rank>::index(rank); });
  }
  best_of_all.finish();
  results.give_all(number, s_ranks);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  return dispatch_all(call.args, [&]<class Order>(const Order& order) -> Status {
    using Rank = typename Order::Rank;
    const std::int64_t rows = topk_plan::rows_of(call.args).count;
    const std::int64_t k = call.args.k;
    if (k == 0 || rows == 0) return {};
    const auto& cut = call.config<topk_plan::SampleCut>();
    const std::int64_t parts = cut.parts;
    if (rows > kMaxGrid / larger(parts, kSampleBlocks)) return unsupported("more than 2^31 - 1 blocks");
    const int lanes = topk_plan::sample_lanes(k);
    SampleMemory<Rank> memory;
    memory.g_maxima = static_cast<Rank*>(call.workspace.data);
    memory.g_thresholds = memory.g_maxima + rows * topk_plan::sample_groups(k);
    memory.g_best = memory.g_thresholds + rows;
    memory.g_counts = reinterpret_cast<std::uint32_t*>(memory.g_best + rows * parts * k);
    memory.g_tickets = static_cast<std::uint32_t*>(call.workspace.zeroed);
    const auto results = results_of<typename Order::Bits>(call.args);
    ROOFTILE_TRY(launch(sample_kernel<Order>,
                        {.grid = dim3(static_cast<unsigned>(rows * kSampleBlocks)),
                         .block = dim3(kThreads),
                         .shared_bytes = kBufferBytes<Rank>,
                         .stream = call.stream},
                        order, results, lanes, cut.stride, memory));
    return launch(filter_kernel<Order>,
                  {.grid = dim3(static_cast<unsigned>(rows * parts)),
                   .block = dim3(kThreads),
                   .shared_bytes = kBufferBytes<Rank> + topk_plan::kBestRanks * sizeof(Rank),
                   .stream = call.stream},
                  order, results, static_cast<unsigned>(parts), memory);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
