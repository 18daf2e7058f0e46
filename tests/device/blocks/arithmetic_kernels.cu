#include "tests/device/blocks/arithmetic_kernels.h"

#include "rooftile/core/philox.h"
#include "rooftile/device/fast_divide.h"
#include "rooftile/device/grid_stride.h"
#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

template <class UInt>
__global__ void divide_kernel(FastDivisor<UInt> by, std::int64_t n, const UInt* g_dividends,
                              UInt* g_quotients, UInt* g_remainders) {
  for (const std::int64_t i : grid_stride(n)) {
    const auto parts = by.divide_with_remainder(g_dividends[i]);
    g_quotients[i] = parts.quotient;
    g_remainders[i] = parts.remainder;
  }
}

__global__ void philox_kernel(std::uint64_t seed, std::uint64_t first, std::uint64_t stream_id, int n,
                              std::uint32_t* g_words, float* g_floats) {
  const int i = static_cast<int>(grid_thread());
  if (i >= n) return;
  const PhiloxCounter words =
      philox4x32_10(philox_counter(first + static_cast<std::uint64_t>(i), stream_id), philox_key(seed));
  const std::uint32_t list[] = {words.x, words.y, words.z, words.w};
  for (int w = 0; w < 4; ++w) {
    g_words[4 * i + w] = list[w];
    g_floats[4 * i + w] = philox_unit_float(list[w]);
  }
}

__global__ void grid_stride_kernel(std::int64_t n, std::uint32_t* g_counts, std::uint32_t* g_threads) {
  for (const std::int64_t i : grid_stride(n)) {
    g_counts[i] += 1;
    g_threads[i] = static_cast<std::uint32_t>(grid_thread());
  }
}

}  // namespace

template <class UInt>
Status run_divide(StreamRef stream, UInt divisor, std::int64_t n, const UInt* g_dividends, UInt* g_quotients,
                  UInt* g_remainders) {
  return launch(divide_kernel<UInt>, {.grid = grid_blocks(n, 128, 16), .block = 128, .stream = stream},
                FastDivisor<UInt>(divisor), n, g_dividends, g_quotients, g_remainders);
}
template Status run_divide<std::uint32_t>(StreamRef, std::uint32_t, std::int64_t, const std::uint32_t*,
                                          std::uint32_t*, std::uint32_t*);
template Status run_divide<std::uint64_t>(StreamRef, std::uint64_t, std::int64_t, const std::uint64_t*,
                                          std::uint64_t*, std::uint64_t*);

Status run_philox(StreamRef stream, std::uint64_t seed, std::uint64_t first, std::uint64_t stream_id, int n,
                  std::uint32_t* g_words, float* g_floats) {
  return launch(philox_kernel, {.grid = grid_blocks(n, 128, n), .block = 128, .stream = stream}, seed, first,
                stream_id, n, g_words, g_floats);
}

Status run_grid_stride(StreamRef stream, int blocks, std::int64_t n, std::uint32_t* g_counts,
                       std::uint32_t* g_threads) {
  return launch(grid_stride_kernel, {.grid = static_cast<unsigned>(blocks), .block = 32, .stream = stream}, n,
                g_counts, g_threads);
}

unsigned grid_blocks_of(std::int64_t n, std::int64_t per_block, std::int64_t limit) {
  return grid_blocks(n, per_block, limit);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
