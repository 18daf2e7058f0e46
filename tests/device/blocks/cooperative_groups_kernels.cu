#include "tests/device/blocks/cooperative_groups_kernels.h"

#include "rooftile/device/block.h"
#include "rooftile/device/cooperative_groups.h"
#include "rooftile/device/last_block.h"
#include "rooftile/device/launch.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

namespace cg = cooperative_groups;

struct Plus {
  __device__ std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};

__global__ void group_pairs_kernel(const std::uint32_t* g_in, std::uint32_t* g_out) {
  __shared__ std::uint32_t s_library;
  __shared__ std::uint32_t s_ours;
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto eighth = cg::tiled_partition<8>(block);
  const auto thread = static_cast<int>(block.thread_rank());
  const std::uint32_t x = g_in[thread];
  int row = 0;
  const auto note = [&](std::uint32_t library, std::uint32_t ours) {
    g_out[row++ * kGroupThreads + thread] = library;
    g_out[row++ * kGroupThreads + thread] = ours;
  };
  note(cg::reduce(warp, x, cg::plus<std::uint32_t>()), warp_reduce(x, Plus{}));
  note(warp.shfl(x, 5), warp_broadcast(x, 5));
  note(warp.shfl_up(x, 1), shuffle_up(x, 1));
  note(warp.shfl_xor(x, 16), shuffle_xor(x, 16));
  note(warp.meta_group_rank() * 32 + warp.thread_rank(),
       static_cast<std::uint32_t>(warp_index() * 32 + lane_index()));
  std::uint32_t largest = x;
  for (int mask = 4; mask > 0; mask /= 2) {
    const std::uint32_t other = shuffle_xor(largest, mask);
    largest = largest > other ? largest : other;
  }
  note(cg::reduce(eighth, x, cg::greater<std::uint32_t>()), largest);
  if (thread == 77) s_library = x;
  block.sync();  // the value is in s_library
  note(s_library, block_broadcast(x, 77, s_ours));
}

__global__ void grid_sync_sum_kernel(const std::uint32_t* g_in, std::uint32_t* g_partials,
                                     std::uint32_t* g_totals) {
  __shared__ std::uint32_t s_warp_values[kWarpsOf<kGroupThreads>];
  const std::uint32_t mine = g_in[blockIdx.x * kGroupThreads + threadIdx.x];
  const std::uint32_t partial = block_reduce<kGroupThreads>(mine, 0u, s_warp_values, Plus{});
  if (threadIdx.x == 0) g_partials[blockIdx.x] = partial;
  cg::this_grid().sync();  // every block's partial sum is in its slot
  if (threadIdx.x != 0) return;
  std::uint32_t total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += g_partials[b];
  g_totals[blockIdx.x] = total;
}

__global__ void last_block_sum_kernel(const std::uint32_t* g_in, std::uint32_t* g_partials,
                                      std::uint32_t* g_counter, std::uint32_t* g_totals) {
  __shared__ std::uint32_t s_warp_values[kWarpsOf<kGroupThreads>];
  const std::uint32_t mine = g_in[blockIdx.x * kGroupThreads + threadIdx.x];
  const std::uint32_t partial = block_reduce<kGroupThreads>(mine, 0u, s_warp_values, Plus{});
  if (threadIdx.x == 0) g_partials[blockIdx.x] = partial;
  if (!is_last_block(g_counter, gridDim.x) || threadIdx.x != 0) return;
  std::uint32_t total = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) total += g_partials[b];
  for (unsigned b = 0; b < gridDim.x; ++b) g_totals[b] = total;
}

}  // namespace

Status run_group_pairs(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out) {
  return launch(group_pairs_kernel, {.block = kGroupThreads, .stream = stream}, g_in, g_out);
}

Status run_grid_sum(StreamRef stream, bool cooperative, int blocks, const std::uint32_t* g_in,
                    std::uint32_t* g_partials, std::uint32_t* g_counter, std::uint32_t* g_totals) {
  const LaunchConfig config{.grid = static_cast<unsigned>(blocks),
                            .block = kGroupThreads,
                            .stream = stream,
                            .cooperative = cooperative};
  if (cooperative) return launch(grid_sync_sum_kernel, config, g_in, g_partials, g_totals);
  return launch(last_block_sum_kernel, config, g_in, g_partials, g_counter, g_totals);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
