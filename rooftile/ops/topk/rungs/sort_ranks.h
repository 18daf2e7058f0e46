// Rows of ranks in global memory, sorted by a bitonic network, and their first ones given.
#pragma once

#include "rooftile/ops/topk/rungs/topk_device.h"

namespace rooftile::ROOFTILE_TARGET::topk_rungs {
namespace {

// All merges of runs up to what a block holds; or, of the merge of runs of `size`, the steps within a block. The last merge
// falls in every row: rows are of `padded` ranks, and size = padded is seen as 0 in all of them.
template <class Rank>
__global__ void __launch_bounds__(kThreads)
    sort_blocks_kernel(Rank* g_ranks, int count, std::int64_t padded, std::int64_t size) {
  ROOFTILE_DYN_SHARED(uint4, s_memory);
  auto* s_ranks = reinterpret_cast<Rank*>(s_memory);
  const std::int64_t base = std::int64_t{blockIdx.x} * count;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) s_ranks[i] = g_ranks[base + i];
  __syncthreads();  // the ranks are there
  const std::int64_t in_row = base & (padded - 1);
  if (size > 0) {
    merge_steps(s_ranks, count, in_row, size, count / 2);
  } else {
    for (int run = 2; run <= count; run *= 2) {
      if (run > 2 * kWarpSize) __syncthreads();  // a warp merges what others have sorted
      merge_steps(s_ranks, count, in_row, run, run / 2);
    }
  }
  __syncthreads();  // sorted
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) g_ranks[base + i] = s_ranks[i];
}

// One step over global memory, a pair to a thread.
template <class Rank>
__global__ void __launch_bounds__(kThreads)
    sort_step_kernel(Rank* g_ranks, std::int64_t pairs, std::int64_t padded, std::int64_t size,
                     std::int64_t distance) {
  const std::int64_t pair = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (pair >= pairs) return;
  const std::int64_t low = 2 * pair - (pair & (distance - 1));
  const Rank a = g_ranks[low];
  const Rank b = g_ranks[low + distance];
  const bool falls = (low & (padded - 1) & size) == 0;
  if (falls ? is_above(b, a) : is_above(a, b)) {
    g_ranks[low] = b;
    g_ranks[low + distance] = a;
  }
}

template <class Rank, class Bits>
__global__ void __launch_bounds__(kThreads)
    give_rows_kernel(Results<Bits> results, const Rank* g_ranks, std::int64_t padded, std::int64_t total) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= total) return;
  const std::int64_t row = i / results.k;
  const std::int64_t j = i % results.k;
  results.give(row, j, g_ranks[row * padded + j]);
}

inline LaunchConfig one_each(std::int64_t count, StreamRef stream) {
  return {.grid = dim3(static_cast<unsigned>(ceil_div(count, kThreads))),
          .block = dim3(kThreads),
          .stream = stream};
}

// Each row the highest first. `padded`: topk_plan::sorted_ranks().
template <class Rank>
Status sort_rows_of_ranks(StreamRef stream, Rank* g_ranks, std::int64_t rows, std::int64_t padded) {
  const std::int64_t total = rows * padded;
  const std::int64_t count = smaller(padded, kBufferRanks);
  const LaunchConfig blocks = {.grid = dim3(static_cast<unsigned>(total / count)),
                               .block = dim3(kThreads),
                               .shared_bytes = kBufferBytes<Rank>,
                               .stream = stream};
  ROOFTILE_TRY(
      launch(sort_blocks_kernel<Rank>, blocks, g_ranks, static_cast<int>(count), padded, std::int64_t{0}));
  for (std::int64_t size = 2 * count; size <= padded; size *= 2) {
    for (std::int64_t distance = size / 2; distance >= count; distance /= 2)
      ROOFTILE_TRY(launch(sort_step_kernel<Rank>, one_each(total / 2, stream), g_ranks, total / 2, padded,
                          size, distance));
    ROOFTILE_TRY(launch(sort_blocks_kernel<Rank>, blocks, g_ranks, static_cast<int>(count), padded, size));
  }
  return {};
}

template <class Rank, class Bits>
Status give_rows(StreamRef stream, const Results<Bits>& results, const Rank* g_ranks, std::int64_t rows,
                 std::int64_t padded) {
  return launch(give_rows_kernel<Rank, Bits>, one_each(rows * results.k, stream), results, g_ranks, padded,
                rows * results.k);
}

}  // namespace
}  // namespace rooftile::ROOFTILE_TARGET::topk_rungs
