// A threshold before the first element is kept.
//
// Idea       a chunk of 512 bytes in up to 64 is looked at first. The k-th of the maxima of groups of lanes, or one a little below,
//            is a threshold that k elements of the row at least are not below. One read of the row keeps these alone, without
//            a barrier; the last block takes the best of what all have kept.
// Change     rows of any length, by all multiprocessors, read once and a small part. A block that has no room for what is not
//            below the threshold, of rows in some order, raises it.
// Limits     k up to 1024; rows of 16 KiB and more.
// Bottleneck DRAM; of rows below some MiB the two launches and the last block.
// Source     a threshold from a sample: Floyd and Rivest (1975), "Expected time bounds for selection"; queues: Johnson et al. (2017).
#include "rooftile/device/last_block.h"
#include "rooftile/ops/topk/rungs/rank_buffer.h"
#include "rooftile/ops/topk/rungs/sieve.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

using topk_plan::kFilterVectors;
using topk_plan::kSampleBlocks;
constexpr int kWarps = kThreads / kWarpSize;
constexpr int kVectors = topk_plan::kVectors;

// Memory of a call; tickets are zero before and afterwards.
template <class Rank>
struct SampleMemory {
  Rank* g_maxima;            // of each row one for each group of lanes
  Rank* g_thresholds;        // of each row
  Rank* g_kept;              // of each block of the filter kept_slots(k)
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

// What a thread has of a part of a row, whose tiles are those of a block: where it stands in it, until all is seen.
template <class Order>
class PartWalk {
 public:
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;

  __device__ __forceinline__ PartWalk(const Order& order, const CoveringVectors<Bits>& row, unsigned part,
                                      unsigned parts)
      : order_(order), row_(row), parts_(parts), tile_(part) {
    // Elements of vectors that hang over an end, each by a thread of its own.
    const int end = static_cast<int>(threadIdx.x) / kElements;
    const int j = static_cast<int>(threadIdx.x) % kElements;
    const std::int64_t v = end == 0 ? 0 : row.vectors - 1;
    const bool is_there = end <= (row.vectors > 1 ? 1 : 0) && (row.mask(v) >> j & 1u) != 0;
    if (is_there && !row.is_whole(v) && v / kTile % parts == part) edge_ = row.index(v) + j;
  }

  // Adds what is not below the threshold. false: there was no room for the element where the thread stands.
  __device__ __forceinline__ bool add_rest(RankBuffer<Rank>& buffer, const Rank& threshold) {
    const Sieve<Order> sieve(order_, row_.g_first, threshold);
    const auto place = static_cast<Bits>(Ranks<Rank>::key(threshold) >> Order::kShift);
    // No way out but the end: a thread that leaves a loop in its middle does not meet its warp again.
    bool has_room = true;
    if (edge_ >= 0) {
      const Rank rank = rank_at(edge_);
      has_room = is_above(threshold, rank) || buffer.add(rank);
      if (has_room) edge_ = -1;
    }
    while (has_room && tile_ * kTile < row_.vectors) {
      if (passed_ == 0) {
        uint4 vectors[kFilterVectors];
        load_whole(vectors);
        passed_ = sieve.passed(vectors, row_.index(tile_ * kTile));
      }
      // Few pass: they are read again, one after the other.
      while (has_room && passed_ != 0) {
        const std::int64_t vector = at(__ffs(static_cast<int>(passed_)) - 1);
        if (mask_ == 0 && row_.is_whole(vector)) mask_ = places_from(place, vector);
        while (has_room && mask_ != 0) {
          const Rank rank = rank_at(row_.index(vector) + __ffs(static_cast<int>(mask_)) - 1);
          has_room = is_above(threshold, rank) || buffer.add(rank);
          if (has_room) mask_ &= mask_ - 1;
        }
        if (has_room) passed_ &= passed_ - 1;
      }
      if (has_room) tile_ += parts_;
    }
    return has_room;
  }

 private:
  static constexpr int kElements = CoveringVectors<Bits>::kElements;
  static constexpr std::int64_t kTile = std::int64_t{kThreads} * kFilterVectors;

  [[nodiscard]] __device__ __forceinline__ std::int64_t at(int v) const {
    return tile_ * kTile + v * kThreads + threadIdx.x;
  }
  [[nodiscard]] __device__ __forceinline__ Rank rank_at(std::int64_t index) const {
    return Ranks<Rank>::of(order_.key(row_.g_first[index]), static_cast<std::uint32_t>(index));
  }
  // A bit for each element of a vector that is not below a place.
  [[nodiscard]] __device__ __forceinline__ unsigned places_from(Bits place, std::int64_t vector) const {
    const Vec<Bits, kElements> vec = load_vec(row_.g_first + row_.index(vector));
    unsigned mask = 0;
#pragma unroll
    for (int j = 0; j < kElements; ++j) mask |= order_.place(vec[j]) >= place ? 1u << j : 0u;
    return mask;
  }
  // Zeros for vectors that hang over an end.
  __device__ __forceinline__ void load_whole(uint4 (&vectors)[kFilterVectors]) const {
    const auto* g_first = reinterpret_cast<const uint4*>(row_.g_first + row_.index(at(0)));
    if (row_.is_whole(tile_ * kTile) && row_.is_whole(tile_ * kTile + kTile - 1)) {
#pragma unroll
      for (int v = 0; v < kFilterVectors; ++v) vectors[v] = g_first[v * kThreads];
    } else {
#pragma unroll
      for (int v = 0; v < kFilterVectors; ++v)
        vectors[v] = row_.is_whole(at(v)) ? g_first[v * kThreads] : uint4{};
    }
  }

  const Order& order_;
  const CoveringVectors<Bits>& row_;
  unsigned parts_;
  std::int64_t edge_ = -1;  // an element at an end of the row, until it is added
  std::int64_t tile_;
  unsigned passed_ = 0;  // vectors of the tile that are still to be looked at
  unsigned mask_ = 0;    // elements of the first of them
};

// What a thread has of what the blocks of a row have kept, `slots` of each at most: where it stands.
template <class Rank>
class KeptWalk {
 public:
  __device__ __forceinline__ KeptWalk(const Rank* g_kept, const std::uint32_t* g_counts, unsigned parts,
                                      int slots)
      : g_kept_(g_kept),
        g_counts_(g_counts),
        parts_(parts),
        slots_(slots),
        lanes_(parts < kThreads ? kThreads / static_cast<int>(parts) : 1),
        part_(threadIdx.x / static_cast<unsigned>(lanes_)),
        first_(static_cast<int>(threadIdx.x) % lanes_) {}

  // As PartWalk::add_rest.
  __device__ __forceinline__ bool add_rest(RankBuffer<Rank>& buffer, const Rank& threshold) {
    bool has_room = true;
    while (has_room && part_ < parts_) {
      const int count = static_cast<int>(g_counts_[part_]);
      while (has_room && first_ < count) {
        Rank ranks[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          const int at = first_ + i * lanes_;
          ranks[i] = at < count ? g_kept_[std::int64_t{part_} * slots_ + at] : Ranks<Rank>::lowest();
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
          if (!has_room || (added_ >> i & 1u) != 0 || !is_above(ranks[i], Ranks<Rank>::lowest())) continue;
          has_room = is_above(threshold, ranks[i]) || buffer.add(ranks[i]);
          if (has_room) added_ |= 1u << i;
        }
        if (has_room) {
          first_ += kAtOnce * lanes_;
          added_ = 0;
        }
      }
      if (has_room) {
        part_ += kThreads / static_cast<unsigned>(lanes_);
        first_ = static_cast<int>(threadIdx.x) % lanes_;
      }
    }
    return has_room;
  }

 private:
  static constexpr int kAtOnce = 4;

  const Rank* g_kept_;
  const std::uint32_t* g_counts_;
  unsigned parts_;
  int slots_;
  int lanes_;           // that share a part
  unsigned part_;       // that the thread is at
  int first_;           // of the next ones there
  unsigned added_ = 0;  // of these
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
  __shared__ RankCounts s_counts;
  const unsigned part = blockIdx.x % parts;
  const std::int64_t number = blockIdx.x / parts;
  const auto row = row_vectors(results.g_in, number, results.n);
  const Rank threshold = memory.g_thresholds[number];
  RankBuffer<Rank> buffer(s_ranks, s_count, s_counts);
  buffer.clear();
  PartWalk<Order> walk(order, row, part, parts);
  add_all(walk, buffer, threshold, results.k);

  const int slots = topk_plan::kept_slots(results.k);
  if (buffer.size() > slots) buffer.keep_best(results.k, slots);
  const int kept = buffer.size();
  Rank* g_kept = memory.g_kept + number * parts * slots;
  std::uint32_t* g_counts = memory.g_counts + number * parts;
  for (int j = static_cast<int>(threadIdx.x); j < kept; j += kThreads)
    g_kept[std::int64_t{part} * slots + j] = s_ranks[j];
  if (threadIdx.x == 0) g_counts[part] = static_cast<std::uint32_t>(kept);
  __syncthreads();  // the block has written before it takes its ticket
  if (!is_last_block(&memory.g_tickets[2 * number + 1], parts)) return;

  buffer.clear();
  KeptWalk<Rank> lists(g_kept, g_counts, parts, slots);
  add_all(lists, buffer, threshold, results.k);
  buffer.give_best(results, number);
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
    memory.g_kept = memory.g_thresholds + rows;
    memory.g_counts =
        reinterpret_cast<std::uint32_t*>(memory.g_kept + rows * parts * topk_plan::kept_slots(k));
    memory.g_tickets = static_cast<std::uint32_t*>(call.workspace.zeroed);
    const auto results = results_of<typename Order::Bits>(call.args);
    ROOFTILE_TRY(launch(sample_kernel<Order>,
                        {.grid = dim3(static_cast<unsigned>(rows * kSampleBlocks)),
                         .block = dim3(kThreads),
                         .shared_bytes = kBufferBytes<Rank>,
                         .stream = call.stream},
                        order, results, lanes, larger(cut.stride, 1), memory));
    return launch(filter_kernel<Order>,
                  {.grid = dim3(static_cast<unsigned>(rows * parts)),
                   .block = dim3(kThreads),
                   .shared_bytes = kBufferBytes<Rank> + topk_plan::kBestRanks * sizeof(Rank),
                   .stream = call.stream},
                  order, results, static_cast<unsigned>(parts), memory);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
