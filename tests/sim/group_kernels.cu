#include "rooftile/device/target.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "rooftile/device/launch.h"
#include "tests/sim/group_kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

namespace cg = cooperative_groups;

struct Wide {
  double parts[3];
};

struct Signs {
  __device__ long long operator()(long long a, long long b) const { return a * b; }
};

template <class Group>
__device__ GroupFacts facts_of(const Group& group, int value) {
  GroupFacts facts;
  facts.size = group.size();
  facts.rank = group.thread_rank();
  facts.meta_rank = group.meta_group_rank();
  facts.meta_size = group.meta_group_size();
  facts.from_last = group.shfl(value, static_cast<int>(group.size()) - 1);
  facts.up = group.shfl_up(value, 2u);
  facts.down = group.shfl_down(value, 3u);
  facts.ballot = group.ballot(value > 0);
  facts.any = group.any(value > 8) != 0;
  facts.all = group.all(value > -8) != 0;
  facts.match_any = group.match_any(value & 3);
  facts.match_all = group.match_all(value & 4, facts.matches_all);
  facts.sum = cg::reduce(group, value, cg::plus<int>());
  facts.lowest = cg::reduce(group, value, cg::less<int>());
  facts.highest = cg::reduce(group, value, cg::greater<int>());
  const auto bits = static_cast<unsigned>(value);
  facts.all_bits = cg::reduce(group, bits, cg::bit_and<unsigned>());
  facts.any_bits = cg::reduce(group, bits, cg::bit_or<unsigned>());
  facts.odd_bits = cg::reduce(group, bits, cg::bit_xor<unsigned>());
  facts.inclusive = cg::inclusive_scan(group, value);
  facts.exclusive = cg::exclusive_scan(group, value, cg::plus<int>());
  facts.inclusive_product_sign = cg::inclusive_scan(group, value < 0 ? -1ll : 1ll, Signs());
  Wide wide{{value + 0.25, value * 1e10, -1.0 * value}};
  wide = group.shfl_up(group.shfl_down(wide, 1u), 1u);
  for (int i = 0; i < 3; ++i) facts.wide[i] = wide.parts[i];
  return facts;
}

__global__ void group_facts_kernel(GroupKind kind, const int* g_in, GroupFacts* g_out) {
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned t = threadIdx.x;
  const int value = g_in[t];
  const unsigned label = t % 32 % 3;
  const auto put = [&](const auto& group) { g_out[t] = facts_of(group, value); };
  switch (kind) {
    case GroupKind::tile_of_32: {
      const cg::thread_block_tile<32> any_parent = warp;
      put(any_parent);
      break;
    }
    case GroupKind::tile_of_8:
      put(cg::tiled_partition<8>(block));
      break;
    case GroupKind::tile_of_4_of_16:
      put(cg::tiled_partition<4>(cg::tiled_partition<16>(warp)));
      break;
    case GroupKind::labels:
      put(cg::labeled_partition(warp, label));
      break;
    case GroupKind::labels_of_tile:
      put(cg::labeled_partition(cg::tiled_partition<8>(block), label));
      break;
    case GroupKind::odd_values:
      put(cg::binary_partition(warp, (value & 1) != 0));
      break;
    case GroupKind::all_agree:
      put(cg::binary_partition(warp, true));
      break;
    case GroupKind::odd_of_labels:
      put(cg::binary_partition(cg::labeled_partition(warp, label), (value & 1) != 0));
      break;
    case GroupKind::fours_of_labels:
      put(cg::tiled_partition(cg::labeled_partition(warp, label), 4));
      break;
  }
}

__global__ void coalesced_kernel(CoalescedFacts* g_out, unsigned* g_members) {
  const unsigned t = threadIdx.x;
  if (t % 3 != 0) return;
  const cg::coalesced_group group = cg::coalesced_threads();
  CoalescedFacts facts;
  facts.size = group.size();
  facts.rank = group.thread_rank();
  facts.sum_of_ones = cg::reduce(group, 1u, cg::plus<unsigned>());
  facts.first_lane = group.shfl(t, 0);
  group.sync();
  if (facts.rank == 0) atomicAdd(g_members, facts.size);
  g_out[t] = facts;
}

__global__ void thread_groups_kernel(unsigned tile_size, ThreadGroupFacts* g_out, unsigned* g_ticket) {
  __shared__ unsigned s_values[1024];
  __shared__ cg::block_tile_memory<1024> s_memory;
  const auto block = cg::this_thread_block(s_memory);
  const cg::thread_group whole = block;
  const cg::thread_group tile = cg::tiled_partition(whole, tile_size);
  const unsigned t = threadIdx.x;
  ThreadGroupFacts facts;
  facts.block_size = cg::group_size(block);
  facts.block_rank = static_cast<unsigned>(cg::thread_rank(whole));
  facts.tile_size = static_cast<unsigned>(tile.size());
  facts.tile_rank = static_cast<unsigned>(tile.thread_rank());
  s_values[t] = t;
  cg::sync(tile);
  facts.tile_sum = 0;
  const unsigned first = t - facts.tile_rank;
  for (unsigned i = 0; i < facts.tile_size && first + i < facts.block_size; ++i) {
    facts.tile_sum += s_values[first + i];
  }
  cg::sync(whole);
  const auto warp = cg::tiled_partition<32>(block);
  cg::invoke_one(warp, [&] { atomicAdd(g_ticket, 1u); });
  facts.tickets = cg::invoke_one_broadcast(warp, [&] { return atomicAdd(g_ticket + 1, 1u) + 100; });
  g_out[t] = facts;
}

__global__ void cluster_group_kernel(ClusterFacts* g_out) {
  __shared__ unsigned s_value;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) s_value = 1000 + blockIdx.x;
  auto token = cluster.barrier_arrive();
  ClusterFacts facts;
  facts.block_rank = cluster.block_rank();
  facts.blocks = cluster.num_blocks();
  facts.rank = cluster.thread_rank();
  facts.threads = cluster.num_threads();
  facts.block_index = cluster.block_index().x;
  facts.thread_index = cluster.thread_index().x;
  facts.block_extent = cluster.dim_blocks().x;
  facts.thread_extent = cluster.dim_threads().x;
  facts.block_of_grid = cg::this_grid().block_index().x;
  facts.blocks_of_grid = cg::this_grid().dim_blocks().x;
  cluster.barrier_wait(static_cast<decltype(token)&&>(token));
  facts.neighbour =
      *cluster.map_shared_rank(&s_value, static_cast<int>((facts.block_rank + 1) % facts.blocks));
  cluster.sync();
  g_out[blockIdx.x * blockDim.x + threadIdx.x] = facts;
}

__global__ void group_copy_kernel(GroupCopyKind kind, unsigned bytes, unsigned offset,
                                  const unsigned char* g_in, unsigned char* g_out,
                                  unsigned char* g_seen_early) {
  __shared__ __align__(16) unsigned char s_bytes[1024];
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned t = threadIdx.x;
  for (unsigned i = t; i < 1024; i += 64) s_bytes[i] = 0xee;
  block.sync();
  unsigned char* s_target = s_bytes + offset;
  const unsigned char* g_source = g_in + offset;
  const unsigned half = bytes / 2;
  switch (kind) {
    case GroupCopyKind::block:
      cg::memcpy_async(block, s_target, g_source, bytes);
      g_seen_early[t] = s_target[0];
      cg::wait(block);
      break;
    case GroupCopyKind::tile:
      if (t < 32) {
        cg::memcpy_async(warp, s_target, g_source, bytes);
        g_seen_early[t] = s_target[0];
        cg::wait(warp);
      }
      block.sync();
      break;
    case GroupCopyKind::labels: {
      const auto thirds = cg::labeled_partition(warp, t % 3);
      if (t < 32 && t % 3 == 1) {
        cg::memcpy_async(thirds, s_target, g_source, bytes);
        g_seen_early[t] = s_target[0];
        cg::wait(thirds);
      }
      block.sync();
      break;
    }
    case GroupCopyKind::elements:
      cg::memcpy_async(block, reinterpret_cast<unsigned*>(s_target), bytes / 4 + 5,
                       reinterpret_cast<const unsigned*>(g_source), bytes / 4);
      g_seen_early[t] = s_target[0];
      cg::wait(block);
      break;
    case GroupCopyKind::two_of_which_one_waited:
      cg::memcpy_async(block, s_target, g_source, half);
      cg::memcpy_async(block, s_target + half, g_source + half, half);
      cg::wait_prior<1>(block);
      g_seen_early[t] = s_target[half];
      for (unsigned i = t; i < half; i += 64) g_out[i] = s_target[i];
      cg::wait(block);
      break;
  }
  // And the byte behind.
  for (unsigned i = t; i <= bytes; i += 64) g_out[i] = s_target[i];
}

__global__ void group_misuse_kernel(GroupMisuse misuse) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  switch (misuse) {
    case GroupMisuse::rank_outside: {
      const auto thirds = cg::labeled_partition(warp, threadIdx.x % 3);
      thirds.shfl(1, 12);
      break;
    }
    case GroupMisuse::tile_of_three:
      cg::tiled_partition(cg::this_thread_block(), 3).sync();
      break;
  }
}

}  // namespace

Status run_group_facts(StreamRef stream, GroupKind kind, unsigned threads, const int* g_in,
                       GroupFacts* g_out) {
  return launch(group_facts_kernel, {.block = threads, .stream = stream}, kind, g_in, g_out);
}
Status run_coalesced(StreamRef stream, CoalescedFacts* g_out, unsigned* g_members) {
  return launch(coalesced_kernel, {.block = 32, .stream = stream}, g_out, g_members);
}
Status run_thread_groups(StreamRef stream, unsigned threads, unsigned tile, ThreadGroupFacts* g_out,
                         unsigned* g_ticket) {
  return launch(thread_groups_kernel, {.block = threads, .stream = stream}, tile, g_out, g_ticket);
}
Status run_cluster_group(StreamRef stream, unsigned clusters, unsigned blocks, unsigned threads,
                         ClusterFacts* g_out) {
  return launch(
      cluster_group_kernel,
      {.grid = clusters * blocks, .block = threads, .stream = stream, .cluster = dim3(blocks, 1, 1)}, g_out);
}
Status run_group_copy(StreamRef stream, GroupCopyKind kind, unsigned bytes, unsigned offset,
                      const unsigned char* g_in, unsigned char* g_out, unsigned char* g_seen_early) {
  return launch(group_copy_kernel, {.block = 64, .stream = stream}, kind, bytes, offset, g_in, g_out,
                g_seen_early);
}
Status run_group_misuse(StreamRef stream, GroupMisuse misuse) {
  return launch(group_misuse_kernel, {.block = 32, .stream = stream}, misuse);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
