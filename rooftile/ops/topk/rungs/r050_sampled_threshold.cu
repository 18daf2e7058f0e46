// A threshold before the first element is kept.
//
// Idea       one chunk of 512 bytes in 64, of rows below some MiB in fewer, is looked at first. The k-th of the maxima of groups of lanes is a threshold that k
//            elements of the row at least are not below: of random rows some 64 k are. One read of the row keeps these alone; the
//            last block takes the best of what the others have kept.
// Change     rows of any length, by all multiprocessors, read once and a 64th; whatever their order, there is no second attempt.
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
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_ranks = reinterpret_cast<Rank*>(s_memory);
  __shared__ RankCounts s_counts;
  const int block = static_cast<int>(blockIdx.x) % kSampleBlocks;
  const std::int64_t number = blockIdx.x / kSampleBlocks;
  const auto row = row_vectors(results.g_in, number, results.n);
  const int warp = block * kWarps + warp_index();
  Rank mine = Ranks<Rank>::lowest();
  const std::int64_t step = std::int64_t{kSampleBlocks} * kWarps * stride * kWarpSize;
  for (std::int64_t v = std::int64_t{warp} * stride * kWarpSize + lane_index(); v < row.vectors; v += step) {
    const unsigned mask = row.mask(v);
    const auto vec = row.load(v);
#pragma unroll
    for (int j = 0; j < CoveringVectors<Bits>::kElements; ++j) {
      if ((mask >> j & 1u) == 0) continue;
      const Rank x = Ranks<Rank>::of(order.key(vec[j]), static_cast<std::uint32_t>(row.index(v) + j));
      if (is_above(x, mine)) mine = x;
    }
  }
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

// `parts` blocks to a row, tiles to them in turn.
template <class Order>
__global__ void __launch_bounds__(kThreads, topk_plan::kFilterBlocks)
    filter_kernel(Order order, Results<typename Order::Bits> results, unsigned parts,
                  SampleMemory<typename Order::Rank> memory) {
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;
  constexpr int kElements = CoveringVectors<Bits>::kElements;
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
  Best<Rank> best(s_ranks, s_count, results.k, below);
  constexpr std::int64_t kTile = std::int64_t{kThreads} * kVectors;
  for (std::int64_t first = part * kTile; first < row.vectors; first += parts * kTile) {
    Vec<Bits, kElements> vecs[kVectors] = {};
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = first + v * kThreads + threadIdx.x;
      if (at < row.vectors) vecs[v] = row.load(at);
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = first + v * kThreads + threadIdx.x;
      best.template offer<kElements>(
          row.mask(at), [&](int j) { return order.key(vecs[v][j]); },
          [&](int j) { return static_cast<std::uint32_t>(row.index(at) + j); });
    }
  }
  const int kept = best.finish();
  const std::int64_t k = results.k;
  Rank* g_best = memory.g_best + number * parts * k;
  std::uint32_t* g_counts = memory.g_counts + number * parts;
  for (int j = static_cast<int>(threadIdx.x); j < kept; j += kThreads) g_best[part * k + j] = s_ranks[j];
  if (threadIdx.x == 0) g_counts[part] = static_cast<std::uint32_t>(kept);
  __syncthreads();  // the block has written before it takes its ticket
  if (!is_last_block(&memory.g_tickets[2 * number + 1], parts)) return;

  // Of a row in random order there is room for all of them at once. Places of many are found sooner by sorting.
  int total = 0;
  for (unsigned first = 0; first < parts; first += kThreads) {
    const unsigned p = first + threadIdx.x;
    const int count = p < parts ? static_cast<int>(g_counts[p]) : 0;
    total += block_all_reduce<kThreads>(count, 0, s_warps, [](int a, int b) { return a + b; });
    __syncthreads();  // everybody has the sum
  }
  if (total <= kBufferRanks && k <= topk_plan::kMostOfParts) {
    if (threadIdx.x == 0) s_count = 0;
    s_counts.clear();
    __syncthreads();  // nothing is counted
    for (unsigned p = static_cast<unsigned>(warp_index()); p < parts; p += kWarps) {
      const int count = static_cast<int>(g_counts[p]);
      int at = 0;
      if (lane_index() == 0) at = atomicAdd(&s_count, count);
      at = warp_broadcast(at);
      for (int i = lane_index(); i < count; i += kWarpSize) s_ranks[at + i] = g_best[p * k + i];
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
