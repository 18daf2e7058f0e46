// Only what is above a threshold is kept.
//
// Idea       a block walks along its row. Elements above the k-th best so far wait in shared memory; when two thousand wait, they
//            are sorted, k are kept, and the threshold rises.
// Change     one read of the row and no copy of it: after a few tiles hardly an element is above the threshold.
// Limits     k up to 1024; a block per row, so that few rows leave most multiprocessors idle. A row that rises keeps the sort
//            busy: every element is above all before it.
// Bottleneck the loads of one block, where rows are few; else DRAM.
// Source     Johnson et al. (2017), WarpSelect; Batcher (1968).
#include "rooftile/ops/topk/rungs/topk_device.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

template <class Order>
__global__ void __launch_bounds__(kThreads)
    bitonic_heap_kernel(Order order, Results<typename Order::Bits> results) {
  using Bits = typename Order::Bits;
  using Rank = typename Order::Rank;
  constexpr int kElements = CoveringVectors<Bits>::kElements;
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_ranks = reinterpret_cast<Rank*>(s_memory);
  __shared__ int s_count;
  Best<Rank> best(s_ranks, s_count, results.k, Ranks<Rank>::lowest());
  const auto row = row_vectors(results.g_in, blockIdx.x, results.n);
  for (std::int64_t first = 0; first < row.vectors; first += kThreads) {
    const std::int64_t vector = first + threadIdx.x;
    const unsigned mask = row.mask(vector);
    Vec<Bits, kElements> vec{};
    if (mask != 0) vec = row.load(vector);
    best.template offer<kElements>(
        mask, [&](int j) { return order.key(vec[j]); },
        [&](int j) { return static_cast<std::uint32_t>(row.index(vector) + j); });
  }
  best.finish();
  results.give_all(blockIdx.x, s_ranks);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  return dispatch_all(call.args, [&]<class Order>(const Order& order) -> Status {
    const std::int64_t rows = topk_plan::rows_of(call.args).count;
    if (call.args.k == 0 || rows == 0) return {};
    if (rows > kMaxGrid) return unsupported("more than 2^31 - 1 rows");
    return launch(bitonic_heap_kernel<Order>,
                  {.grid = dim3(static_cast<unsigned>(rows)),
                   .block = dim3(kThreads),
                   .shared_bytes = kBufferBytes<typename Order::Rank>,
                   .stream = call.stream},
                  order, results_of<typename Order::Bits>(call.args));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
