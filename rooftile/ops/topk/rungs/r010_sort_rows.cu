// Sort everything, keep the beginning.
//
// Idea       every row is sorted by a bitonic network, whose first k elements are the answer.
// Limits     a copy of the input in ranks of 8 bytes, 16 for 8-byte elements, padded to a power of two. Elements of 4 bytes.
// Bottleneck log2(n)^2 / 2 steps, of which those over more than 4096 ranks read and write all of them.
// Source     Batcher (1968).
#include "rooftile/ops/topk/rungs/sort_ranks.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

// Of each row all ranks, and lowest ones up to `padded`.
template <class Order>
__global__ void __launch_bounds__(kThreads)
    rank_rows_kernel(Order order, const typename Order::Bits* g_in, std::int64_t n, std::int64_t padded,
                     std::int64_t total, typename Order::Rank* g_ranks) {
  using Rank = typename Order::Rank;
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= total) return;
  const std::int64_t row = i / padded;
  const std::int64_t column = i % padded;
  g_ranks[i] = column < n
                   ? Ranks<Rank>::of(order.key(g_in[row * n + column]), static_cast<std::uint32_t>(column))
                   : Ranks<Rank>::lowest();
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  return dispatch_lesson(call.args, [&]<class Order>(const Order& order) -> Status {
    using Bits = typename Order::Bits;
    using Rank = typename Order::Rank;
    const topk_plan::Rows rows = topk_plan::rows_of(call.args);
    if (call.args.k == 0 || rows.count == 0) return {};
    const std::int64_t padded = topk_plan::sorted_ranks(rows.length);
    const std::int64_t total = rows.count * padded;
    const std::int64_t blocks = ceil_div(total, kThreads);
    if (blocks > kMaxGrid) return unsupported("more than 2^40 ranks to sort");
    auto* g_ranks = static_cast<Rank*>(call.workspace.data);
    const auto* g_in = static_cast<const Bits*>(call.args.in.data);
    ROOFTILE_TRY(
        launch(rank_rows_kernel<Order>,
               {.grid = dim3(static_cast<unsigned>(blocks)), .block = dim3(kThreads), .stream = call.stream},
               order, g_in, rows.length, padded, total, g_ranks));
    ROOFTILE_TRY(sort_rows_of_ranks(call.stream, g_ranks, rows.count, padded));
    return give_rows(call.stream, results_of<Bits>(call.args), g_ranks, rows.count, padded);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
