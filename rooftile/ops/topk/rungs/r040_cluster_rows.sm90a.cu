// The row stays on the chip.
//
// Idea       a cluster brings a row into its blocks' shared memory, in chunks of 1 KiB to the blocks in turn. Small groups of
//            lanes find the maxima of what they have; the k-th of these is a threshold that k elements at least are not below. What
//            is not below it, of random rows little more than k, goes to the first block, which sorts it.
// Change     one read of the row, whatever its order: the second look is one at shared memory. No threshold that must rise.
// Limits     sm_90a; rows of less than 1 MiB, k up to 1024.
// Bottleneck DRAM, where rows are many; else the four barriers of the cluster.
// Source     PTX ISA, distributed shared memory and cp.async.bulk. Where more than 4096 elements are not below the threshold,
//            the k-th of 4096 of them is the next one.
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/ops/topk/rungs/topk_device.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

constexpr int kChunkVectors = topk_plan::kChunkBytes / kVecBytes;

template <class Rank>
struct ClusterShared {
  Mbarrier landed;
  Rank threshold;
  std::uint32_t count;    // candidates, of which kBufferRanks are there at most
  std::uint32_t is_done;  // the row is given
};

// What a block has of a row.
template <class Order>
struct ClusterPart {
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;
  static constexpr int kElements = kVecElements<Bits>;

  const Order& order;
  CoveringVectors<Bits> row;
  uint4* s_chunks;
  int chunks;
  unsigned rank;    // of the block
  unsigned blocks;  // of the cluster

  // The vector of the row that lies at a place of s_chunks.
  [[nodiscard]] __device__ __forceinline__ std::int64_t vector_at(int place) const {
    const std::int64_t chunk = std::int64_t{place / kChunkVectors} * blocks + rank;
    return chunk * kChunkVectors + place % kChunkVectors;
  }

  // By one warp. Vectors that hang over an end of the row are left out.
  __device__ __forceinline__ void bring(Mbarrier* s_landed) const {
    const std::int64_t first_whole = row.skew > 0 ? 1 : 0;
    const std::int64_t end_whole = (row.n + row.skew) / kElements;
    const auto clipped = [&](std::int64_t v) {
      return v < first_whole ? first_whole : v > end_whole ? end_whole : v;
    };
    std::uint32_t bytes = 0;
    for (int c = lane_index(); c < chunks; c += kWarpSize) {
      const std::int64_t first = vector_at(c * kChunkVectors);
      const std::int64_t count = clipped(first + kChunkVectors) - clipped(first);
      if (count > 0) bytes += static_cast<std::uint32_t>(count * kVecBytes);
    }
    bytes = warp_reduce(bytes, [](std::uint32_t a, std::uint32_t b) { return a + b; });
    // A copy of another lane may land before its bytes are expected: the phase waits for this arrival.
    if (lane_index() == 0) mbarrier_arrive_expect_tx(s_landed, bytes);
    for (int c = lane_index(); c < chunks; c += kWarpSize) {
      const std::int64_t first = vector_at(c * kChunkVectors);
      const std::int64_t begin = clipped(first);
      const std::int64_t count = clipped(first + kChunkVectors) - begin;
      if (count <= 0) continue;
      bulk_load(s_chunks + c * kChunkVectors + (begin - first), row.g_first + row.index(begin),
                static_cast<std::uint32_t>(count * kVecBytes), s_landed);
    }
  }

  // Calls body(rank) for this thread's elements.
  template <class Body>
  __device__ __forceinline__ void for_ranks(Body body) const {
    for (int place = static_cast<int>(threadIdx.x); place < chunks * kChunkVectors; place += kThreads) {
      const std::int64_t v = vector_at(place);
      const unsigned mask = row.mask(v);
      if (mask == 0) continue;
      Vec<Bits, kElements> vec;
      if (row.is_whole(v)) {
        const uint4 raw = s_chunks[place];
        memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
      } else {
        vec = row.load(v);
      }
#pragma unroll
      for (int j = 0; j < kElements; ++j) {
        if ((mask >> j & 1u) != 0)
          body(Ranks<Rank>::of(order.key(vec[j]), static_cast<std::uint32_t>(row.index(v) + j)));
      }
    }
  }
};

template <class Rank>
__device__ __forceinline__ Rank higher(const Rank& a, const Rank& b) {
  return is_above(b, a) ? b : a;
}

// The candidates of all blocks, or as many as there is room for, to this block's s_ranks. How many there are.
template <class Rank>
__device__ __forceinline__ std::uint32_t collect(ClusterShared<Rank>& s, Rank* s_ranks, unsigned blocks) {
  std::uint32_t total = s.count;
  for (unsigned b = 1; b < blocks; ++b) {
    const std::uint32_t count = map_shared_rank(&s, b)->count;
    const Rank* theirs = map_shared_rank(s_ranks, b);
    for (std::uint32_t i = threadIdx.x; i < count && total + i < kBufferRanks; i += kThreads)
      s_ranks[total + i] = theirs[i];
    total += count;
  }
  return total;
}

// The k-th of `count` ranks that are sorted, to all blocks of the cluster: not below it are k at least.
template <class Rank>
__device__ __forceinline__ void tell_threshold(ClusterShared<Rank>& s, const Rank* s_ranks, int count,
                                               std::int64_t k, unsigned blocks) {
  if (threadIdx.x >= blocks) return;
  map_shared_rank(&s, threadIdx.x)->threshold = k <= count ? s_ranks[k - 1] : Ranks<Rank>::lowest();
}

// A cluster per row. Dynamic shared memory: the block's chunks, then kBufferRanks ranks. `lanes` have one maximum.
template <class Order>
__global__ void __launch_bounds__(kThreads)
    cluster_rows_kernel(const __grid_constant__ Order order, Results<typename Order::Bits> results,
                        int chunks, int lanes) {
  using Rank = typename Order::Rank;
  ROOFTILE_DYN_SHARED(uint4, s_chunks);
  __shared__ ClusterShared<Rank> s;
  auto* s_ranks = reinterpret_cast<Rank*>(s_chunks + chunks * kChunkVectors);
  const unsigned rank = cluster_rank();
  const unsigned blocks = cluster_blocks();
  const std::int64_t row = blockIdx.x / blocks;
  const ClusterPart<Order> part{order, row_vectors(results.g_in, row, results.n), s_chunks, chunks, rank,
                                blocks};
  if (threadIdx.x == 0) {
    mbarrier_init(&s.landed, 1);
    fence_mbarrier_init();
    s.is_done = 0;
  }
  cluster_sync();  // all blocks have started, with barriers that are ready
  if (warp_index() == 0) part.bring(&s.landed);
  mbarrier_wait(&s.landed, 0);

  Rank mine = Ranks<Rank>::lowest();
  part.for_ranks([&](const Rank& x) { mine = higher(mine, x); });
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    mine = higher(mine, shuffle_xor(mine, distance));
  const int groups = kThreads / lanes;  // of a block
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % lanes == 0)
    map_shared_rank(s_ranks, 0)[static_cast<int>(rank) * groups + thread / lanes] = mine;
  cluster_sync();  // all maxima are there
  if (rank == 0) {
    const int maxima = groups * static_cast<int>(blocks);
    sort_falling(s_ranks, maxima);
    tell_threshold(s, s_ranks, maxima, results.k, blocks);
  }
  for (;;) {
    cluster_sync();  // the threshold is told, or that the row is given
    if (s.is_done != 0) return;
    const Rank threshold = s.threshold;
    if (thread == 0) s.count = 0;
    __syncthreads();  // nothing is counted
    part.for_ranks([&](const Rank& x) {
      if (is_above(threshold, x)) return;
      const std::uint32_t at = atomicAdd(&s.count, 1u);
      if (at < kBufferRanks) s_ranks[at] = x;
    });
    cluster_sync();  // all candidates are there
    if (rank != 0) continue;
    const std::uint32_t total = collect(s, s_ranks, blocks);
    const int count = total < kBufferRanks ? static_cast<int>(total) : kBufferRanks;
    int padded = 2;
    while (padded < count) padded *= 2;
    for (int i = count + thread; i < padded; i += kThreads) s_ranks[i] = Ranks<Rank>::lowest();
    __syncthreads();  // collected and padded
    sort_falling(s_ranks, padded);
    if (total <= kBufferRanks) {
      results.give_all(row, s_ranks);
      if (threadIdx.x < blocks) map_shared_rank(&s, threadIdx.x)->is_done = 1;
    } else {
      tell_threshold(s, s_ranks, count, results.k, blocks);
    }
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  return dispatch_all(call.args, [&]<class Order>(const Order& order) -> Status {
    using Rank = typename Order::Rank;
    const std::int64_t rows = topk_plan::rows_of(call.args).count;
    if (call.args.k == 0 || rows == 0) return {};
    const auto& cut = call.config<topk_plan::ClusterCut>();
    if (rows > kMaxGrid / cut.blocks) return unsupported("more than 2^31 - 1 blocks");
    const auto blocks = static_cast<unsigned>(cut.blocks);
    return launch(cluster_rows_kernel<Order>,
                  {.grid = dim3(static_cast<unsigned>(rows) * blocks),
                   .block = dim3(kThreads),
                   .shared_bytes = static_cast<std::size_t>(cut.chunks) * topk_plan::kChunkBytes +
                                   kBufferRanks * sizeof(Rank),
                   .stream = call.stream,
                   .cluster = dim3(blocks)},
                  order, results_of<typename Order::Bits>(call.args), cut.chunks,
                  topk_plan::cluster_lanes(call.args.k, cut.blocks));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
