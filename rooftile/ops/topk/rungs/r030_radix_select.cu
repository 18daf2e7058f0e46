// Digit by digit.
//
// Idea       a rank has six digits of 11 bits. Blocks count how often each value of the first digit occurs in a row; the last one
//            finds the value at which k are reached, and from then on only ranks with that digit count. When all digits are known,
//            or as many are left as are asked, everything from there on is gathered and sorted.
// Change     any k, and all multiprocessors work at a row; the order within the row does not matter.
// Limits     a read of the row for each digit that is needed: two or three of random numbers, six where ties decide.
// Bottleneck DRAM, several times; in rows of few values the atomics that meet at one bin.
// Source     Alabi et al. (2012).
#include "rooftile/device/block.h"
#include "rooftile/device/last_block.h"
#include "rooftile/ops/topk/rungs/sort_ranks.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

using topk_plan::kBins;
using topk_plan::kDigitBits;

// What is known of a row's k-th rank.
template <class Rank>
struct RowState {
  Rank prefix;           // its digits, then zeros
  std::uint32_t needed;  // of those that begin so, the highest
  std::uint32_t is_done;
};

// Memory of a batch of rows; counts and counters are zero before and afterwards.
template <class Rank>
struct RadixMemory {
  RowState<Rank>* g_states;
  Rank* g_ranks;  // `padded` of each row
  std::int64_t padded;
  std::uint32_t* g_counts;    // kBins of each row
  std::uint32_t* g_tickets;   // one of each row
  std::uint32_t* g_gathered;  // one of each row
};

// Rows of a batch: block b has part b % parts of row b / parts.
struct Batch {
  std::int64_t first;  // row
  unsigned parts;
};

// Calls body(rank) for every element of this block's part of the row.
template <class Order, class Body>
__device__ __forceinline__ void for_ranks(const Order& order,
                                          const CoveringVectors<typename Order::Bits>& row, unsigned part,
                                          unsigned parts, Body body) {
  constexpr int kElements = CoveringVectors<typename Order::Bits>::kElements;
  for (std::int64_t v = std::int64_t{part} * kThreads + threadIdx.x; v < row.vectors;
       v += std::int64_t{parts} * kThreads) {
    const unsigned mask = row.mask(v);
    const auto vec = row.load(v);
#pragma unroll
    for (int j = 0; j < kElements; ++j) {
      if ((mask >> j & 1u) != 0)
        body(
            Ranks<typename Order::Rank>::of(order.key(vec[j]), static_cast<std::uint32_t>(row.index(v) + j)));
    }
  }
}

// By the last block of a row: the value of the digit from bit `shift` on, of those that occurred.
template <class Rank>
__device__ __forceinline__ void choose_digit(const RowState<Rank>& before, int shift, std::uint32_t* g_counts,
                                             RowState<Rank>* g_state) {
  constexpr int kBinsOfThread = kBins / kThreads;
  __shared__ std::uint32_t s_warp_values[kWarpsOf<kThreads>];
  std::uint32_t counts[kBinsOfThread];
  std::uint32_t sum = 0;
  const int highest = kBins - 1 - static_cast<int>(threadIdx.x) * kBinsOfThread;
#pragma unroll
  for (int i = 0; i < kBinsOfThread; ++i) {
    counts[i] = g_counts[highest - i];
    g_counts[highest - i] = 0;
    sum += counts[i];
  }
  std::uint32_t above = block_exclusive_scan<kThreads>(sum, std::uint32_t{0}, s_warp_values,
                                                       [](std::uint32_t a, std::uint32_t b) { return a + b; })
                            .value;
#pragma unroll
  for (int i = 0; i < kBinsOfThread; ++i) {
    if (above < before.needed && before.needed <= above + counts[i]) {
      const std::uint32_t needed = before.needed - above;
      *g_state = {Ranks<Rank>::with_bits(before.prefix, shift, static_cast<std::uint32_t>(highest - i)),
                  needed, static_cast<std::uint32_t>(needed == counts[i])};
    }
    above += counts[i];
  }
}

template <class Order>
__global__ void __launch_bounds__(kThreads)
    count_digits_kernel(Order order, Results<typename Order::Bits> results, Batch batch, int digit,
                        RadixMemory<typename Order::Rank> memory) {
  using Rank = typename Order::Rank;
  __shared__ std::uint32_t s_counts[kBins];
  const unsigned row_of_batch = blockIdx.x / batch.parts;
  const unsigned part = blockIdx.x % batch.parts;
  RowState<Rank> state{Ranks<Rank>::lowest(), static_cast<std::uint32_t>(results.k), 0};
  if (digit > 0) state = memory.g_states[row_of_batch];
  if (state.is_done != 0) return;

  const int known = Ranks<Rank>::kBits - digit * kDigitBits;  // digits down to this bit
  const int shift = known > kDigitBits ? known - kDigitBits : 0;
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) s_counts[bin] = 0;
  __syncthreads();  // zeros
  const auto row = row_vectors(results.g_in, batch.first + row_of_batch, results.n);
  for_ranks(order, row, part, batch.parts, [&](const Rank& rank) {
    if (Ranks<Rank>::agree(rank, state.prefix, known))
      atomicAdd(&s_counts[Ranks<Rank>::bits(rank, shift, known - shift)], 1u);
  });
  __syncthreads();  // the part is counted
  std::uint32_t* g_counts = memory.g_counts + std::int64_t{row_of_batch} * kBins;
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) {
    if (s_counts[bin] != 0) atomicAdd(&g_counts[bin], s_counts[bin]);
  }
  __syncthreads();  // the whole block has added before it takes its ticket
  if (is_last_block(&memory.g_tickets[row_of_batch], batch.parts))
    choose_digit(state, shift, g_counts, &memory.g_states[row_of_batch]);
}

// The k ranks from the k-th on, in any order, and lowest ones behind them.
template <class Order>
__global__ void __launch_bounds__(kThreads)
    gather_kernel(Order order, Results<typename Order::Bits> results, Batch batch,
                  RadixMemory<typename Order::Rank> memory) {
  using Rank = typename Order::Rank;
  const unsigned row_of_batch = blockIdx.x / batch.parts;
  const unsigned part = blockIdx.x % batch.parts;
  const Rank least = memory.g_states[row_of_batch].prefix;
  Rank* g_ranks = memory.g_ranks + row_of_batch * memory.padded;
  const auto row = row_vectors(results.g_in, batch.first + row_of_batch, results.n);
  for_ranks(order, row, part, batch.parts, [&](const Rank& rank) {
    if (!is_above(least, rank)) g_ranks[atomicAdd(&memory.g_gathered[row_of_batch], 1u)] = rank;
  });
  if (part == 0) {
    for (std::int64_t i = results.k + threadIdx.x; i < memory.padded; i += kThreads)
      g_ranks[i] = Ranks<Rank>::lowest();
  }
  __syncthreads();  // the whole block has added before it takes its ticket
  if (is_last_block(&memory.g_tickets[row_of_batch], batch.parts) && threadIdx.x == 0)
    memory.g_gathered[row_of_batch] = 0;
}

template <class Order>
Status select_rows(const Call<TopkArgs>& call, const Order& order, const Batch& batch, std::int64_t rows,
                   const RadixMemory<typename Order::Rank>& memory) {
  using Bits = typename Order::Bits;
  Results<Bits> results = results_of<Bits>(call.args);
  const LaunchConfig config = {.grid = dim3(static_cast<unsigned>(rows) * batch.parts),
                               .block = dim3(kThreads),
                               .stream = call.stream};
  for (int digit = 0; digit < topk_plan::digits_of(sizeof(Bits)); ++digit)
    ROOFTILE_TRY(launch(count_digits_kernel<Order>, config, order, results, batch, digit, memory));
  ROOFTILE_TRY(launch(gather_kernel<Order>, config, order, results, batch, memory));
  ROOFTILE_TRY(sort_rows_of_ranks(call.stream, memory.g_ranks, rows, memory.padded));
  results.g_in += batch.first * results.n;
  results.g_values += batch.first * results.k;
  results.g_indices += batch.first * results.k;
  return give_rows(call.stream, results, memory.g_ranks, rows, memory.padded);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<TopkArgs>& call) {
  return dispatch_all(call.args, [&]<class Order>(const Order& order) -> Status {
    using Rank = typename Order::Rank;
    const topk_plan::Rows rows = topk_plan::rows_of(call.args);
    if (call.args.k == 0 || rows.count == 0) return {};
    const auto& cut = call.config<topk_plan::RadixCut>();
    RadixMemory<Rank> memory;
    memory.padded = topk_plan::sorted_ranks(call.args.k);
    memory.g_ranks = static_cast<Rank*>(call.workspace.data);
    memory.g_states = reinterpret_cast<RowState<Rank>*>(memory.g_ranks + cut.rows * memory.padded);
    memory.g_counts = static_cast<std::uint32_t*>(call.workspace.zeroed);
    memory.g_tickets = memory.g_counts + cut.rows * kBins;
    memory.g_gathered = memory.g_tickets + cut.rows;
    static_assert(sizeof(RowState<Rank>) <= topk_plan::kRowStateBytes);
    for (std::int64_t first = 0; first < rows.count; first += cut.rows) {
      ROOFTILE_TRY(select_rows(call, order, Batch{first, static_cast<unsigned>(cut.parts)},
                               smaller(cut.rows, rows.count - first), memory));
    }
    return {};
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
