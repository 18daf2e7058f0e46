// Parts of a row in shared memory.
//
// Idea       a block brings a part of a row into its shared memory. Of the maxima of small groups of threads it looks for one that
//            k at least are not below, and few others: for 64 of them it is counted how many are not. What is not below it of all
//            elements goes to the last block of the row, which looks in the same way at what the parts have kept, and counts
//            for each of the k how many are above it.
// Change     one read and one launch; no block waits for another one; nothing is sorted.
// Limits     k up to 256; rows of up to 128 parts of 64 KiB, of which one has room for what all keep.
// Bottleneck DRAM, where rows are many; of few rows the way to memory, four times.
// Source     ranks by counting: Knuth, The Art of Computer Programming 3, 5.2. Where more elements than there is room for are not
//            below the threshold, it is raised: k of those that found room are not below the next one.
#include <utility>

#include "rooftile/device/last_block.h"
#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/ops/topk/rungs/rank_counts.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

using topk_plan::PartCut;

// What a thread has of a row: vectors of its own in shared memory, which no other thread reads, and an element of one that
// hangs over an end of the row. Elements are kept as their places in the order.
template <class Order, int kBlock, int kVectors>
class SharedPart {
 public:
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;

  // s_vectors: kBlock * kVectors.
  __device__ __forceinline__ SharedPart(const Order& order, const Bits* g_row, std::int64_t n, unsigned part,
                                        unsigned parts, uint4* s_vectors)
      : s_own_(s_vectors + threadIdx.x) {
    const auto length = static_cast<unsigned>(n);
    const auto past =
        static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(g_row) % kVecBytes / sizeof(Bits));
    const unsigned before = (kElements - past) % kElements;
    const unsigned head = before < length ? before : length;
    const unsigned vectors = (length - head) / kElements;
    const unsigned tail = head + vectors * kElements;
    const unsigned first = part * kBlock * kVectors + threadIdx.x;
    first_index_ = head + first * kElements;
    there_ = first < vectors ? static_cast<int>((vectors - first + kBlock - 1) / kBlock) : 0;
    if (there_ > kVectors) there_ = kVectors;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      if (v < there_) cp_async<kVecBytes>(&s_own_[v * kBlock], g_row + index(v));
      cp_async_commit();
    }

    std::uint32_t edge = kNoIndex;
    if (part == 0 && threadIdx.x < head) edge = threadIdx.x;
    if (part == parts - 1 && threadIdx.x >= kElements && threadIdx.x - kElements < length - tail)
      edge = tail + threadIdx.x - kElements;
    if (edge != kNoIndex) edge_ = Ranks<Rank>::of(order.key(g_row[edge]), edge);
    order_vectors(order, std::make_integer_sequence<int, kVectors>());
  }
  // The lowest rank where there is nothing.
  [[nodiscard]] __device__ __forceinline__ const Rank& highest() const { return highest_; }
  // Calls body(rank) for elements that are not below the threshold.
  template <class Body>
  __device__ __forceinline__ void for_ranks_from(const Rank& threshold, Body body) const {
    const auto least = static_cast<Bits>(Ranks<Rank>::key(threshold) >> Order::kShift);
#pragma unroll 1
    for (int chunk = 0; chunk < kVectors; chunk += kChunk) {
      // Few are: who they are is seen first, and then one after the other.
      unsigned mask = 0;
#pragma unroll
      for (int v = 0; v < kChunk; ++v) {
        if (chunk + v >= there_) continue;
        const Vec<Bits, kElements> vec = own(chunk + v);
#pragma unroll
        for (unsigned j = 0; j < kElements; ++j)
          mask |= vec[static_cast<int>(j)] >= least ? 1u << (static_cast<unsigned>(v) * kElements + j) : 0u;
      }
      while (mask != 0) {
        const auto bit = static_cast<unsigned>(__ffs(static_cast<int>(mask)) - 1);
        mask &= mask - 1;
        const int v = chunk + static_cast<int>(bit / kElements);
        const auto* s_places = reinterpret_cast<const Bits*>(&s_own_[v * kBlock]);
        const Rank x = Ranks<Rank>::of(Order::key_at(s_places[bit % kElements]), index(v) + bit % kElements);
        if (!is_above(threshold, x)) body(x);
      }
    }
    if (is_above(edge_, Ranks<Rank>::lowest()) && !is_above(threshold, edge_)) body(edge_);
  }

 private:
  static constexpr unsigned kElements = kVecElements<Bits>;
  static constexpr std::uint32_t kNoIndex = ~0u;
  // Vectors whose elements have a bit each of a mask.
  static constexpr int kChunk =
      kVectors < 32 / static_cast<int>(kElements) ? kVectors : 32 / static_cast<int>(kElements);
  static_assert(kVectors % kChunk == 0);

  [[nodiscard]] __device__ __forceinline__ std::uint32_t index(int v) const {
    return first_index_ + static_cast<std::uint32_t>(v * kBlock) * kElements;
  }
  [[nodiscard]] __device__ __forceinline__ Vec<Bits, kElements> own(int v) const {
    Vec<Bits, kElements> vec;
    memcpy(static_cast<void*>(&vec), &s_own_[v * kBlock], kVecBytes);
    return vec;
  }
  // Elements become places, vectors as they arrive; finds the highest.
  template <int... kOwn>
  __device__ __forceinline__ void order_vectors(const Order& order, std::integer_sequence<int, kOwn...>) {
    Bits best{};
    std::uint32_t index_of_best = kNoIndex;
    (order_vector<kOwn>(order, best, index_of_best), ...);
    highest_ = edge_;
    if (index_of_best == kNoIndex) return;
    const Rank highest = Ranks<Rank>::of(Order::key_at(best), index_of_best);
    if (is_above(highest, highest_)) highest_ = highest;
  }
  template <int kOwn>
  __device__ __forceinline__ void order_vector(const Order& order, Bits& best, std::uint32_t& index_of_best) {
    cp_async_wait<kVectors - 1 - kOwn>();
    if (kOwn >= there_) return;
    Vec<Bits, kElements> vec = own(kOwn);
#pragma unroll
    for (unsigned j = 0; j < kElements; ++j) {
      Bits& place = vec[static_cast<int>(j)];
      place = order.place(place);
      if (place <= best && (kOwn > 0 || j > 0)) continue;  // of equal ones the first
      best = place;
      index_of_best = index(kOwn) + j;
    }
    memcpy(&s_own_[kOwn * kBlock], &vec, kVecBytes);
  }

  uint4* s_own_;
  std::uint32_t first_index_;  // of the thread's first vector
  int there_;                  // of its vectors
  Rank edge_ = Ranks<Rank>::lowest();
  Rank highest_;
};

// Memory of a call; tickets are zero before and afterwards.
template <class Rank>
struct PartMemory {
  Rank* g_kept;              // of each part `kept`; behind the last one lowest ranks
  std::uint32_t* g_tickets;  // one of each row
};

// A block per part. Dynamic shared memory: the part, where later the ranks lie that all parts have kept; then cut.ranks ranks.
template <class Order, int kBlock, int kVectors>
__global__ void __launch_bounds__(kBlock, topk_plan::kPartThreads / kBlock)
    shared_parts_kernel(Order order, Results<typename Order::Bits> results, PartCut cut,
                        PartMemory<typename Order::Rank> memory) {
  using Rank = typename Order::Rank;
  constexpr int kPart = kBlock * kVectors;  // vectors
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  __shared__ int s_count;
  __shared__ RankCounts s_counts;
  auto* s_all = reinterpret_cast<Rank*>(s_memory);
  auto* s_ranks = reinterpret_cast<Rank*>(s_memory + kPart);
  const auto parts = static_cast<unsigned>(cut.parts);
  const unsigned part = blockIdx.x % parts;
  const std::int64_t number = blockIdx.x / parts;
  const int thread = static_cast<int>(threadIdx.x);
  const int k = static_cast<int>(results.k);

  const SharedPart<Order, kBlock, kVectors> own(order, results.g_in + number * results.n, results.n, part,
                                                parts, s_memory);
  Rank highest = own.highest();
  const int threads = kBlock / cut.groups;
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    const Rank other = shuffle_xor(highest, distance);
    if (is_above(other, highest)) highest = other;
  }
  if (thread % threads == 0) s_ranks[thread / threads] = highest;
  if (thread == 0) s_count = 0;
  s_counts.clear();
  __syncthreads();  // the maxima are there, nothing is counted
  Rank threshold = threshold_of<kBlock>(s_ranks, cut.groups, k, cut.most, cut.most, s_counts);
  int count = 0;
  for (;;) {
    __syncthreads();  // the ranks have been read
    own.for_ranks_from(threshold, [&](const Rank& x) {
      const int at = atomicAdd(&s_count, 1);
      if (at < cut.room) s_ranks[at] = x;
    });
    s_counts.clear();
    __syncthreads();  // all are counted
    count = s_count;
    if (count <= cut.room) break;
    // Too many. Of those that found room, k are above most of the others.
    threshold = threshold_of<kBlock>(s_ranks, cut.room, k, cut.most, cut.most, s_counts);
    if (thread == 0) s_count = 0;
  }

  Rank* s_best = s_ranks + cut.room;
  if (parts > 1) {
    threshold = threshold_of<kBlock>(s_ranks, count, k, cut.kept, cut.kept, s_counts);
    Rank* g_kept = memory.g_kept + (number * parts + part) * cut.kept;
    for (int i = thread; i < count; i += kBlock) {
      const Rank x = s_ranks[i];
      if (!is_above(threshold, x)) g_kept[atomicAdd(&s_counts.best, 1)] = x;
    }
    __syncthreads();  // all that are kept are counted
    for (int i = s_counts.best + thread; i < cut.kept; i += kBlock) g_kept[i] = Ranks<Rank>::lowest();
    __syncthreads();  // the block has written before it takes its ticket
    if (!is_last_block(&memory.g_tickets[number], parts)) return;
    const Rank* g_all = memory.g_kept + number * parts * cut.kept;
    if (thread == 0) s_count = 0;
    s_counts.clear();
    __syncthreads();  // nothing is counted
#pragma unroll 4
    for (int i = thread; i < cut.parts * cut.kept; i += kBlock) {
      const Rank x = g_all[i];
      if (is_above(x, Ranks<Rank>::lowest())) s_all[atomicAdd(&s_count, 1)] = x;
    }
    __syncthreads();  // all are there
    count = s_count;
    s_ranks = s_all;
  }
  give_best<kBlock>(results, number, s_ranks, count, s_best, s_counts);
}

template <int kBlock, int kVectors, class Order>
Status launch_parts(const Call<TopkArgs>& call, const Order& order) {
  using Rank = typename Order::Rank;
  const std::int64_t rows = topk_plan::rows_of(call.args).count;
  const auto& cut = call.config<PartCut>();
  if (rows > kMaxGrid / cut.parts) return unsupported("more than 2^31 - 1 blocks");
  const PartMemory<Rank> memory{static_cast<Rank*>(call.workspace.data),
                                static_cast<std::uint32_t*>(call.workspace.zeroed)};
  return launch(shared_parts_kernel<Order, kBlock, kVectors>,
                {.grid = dim3(static_cast<unsigned>(rows * cut.parts)),
                 .block = dim3(kBlock),
                 .shared_bytes = std::size_t{kBlock} * kVectors * kVecBytes +
                                 static_cast<std::size_t>(cut.ranks) * sizeof(Rank),
                 .stream = call.stream},
                order, results_of<typename Order::Bits>(call.args), cut, memory);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  return dispatch_all(call.args, [&]<class Order>(const Order& order) -> Status {
    if (call.args.k == 0 || topk_plan::rows_of(call.args).count == 0) return {};
    if (call.config<PartCut>().is_small)
      return launch_parts<topk_plan::kSmallThreads, topk_plan::kSmallVectors>(call, order);
    return launch_parts<kThreads, topk_plan::kPartVectors>(call, order);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
