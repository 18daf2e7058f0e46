#include "rooftile/device/sm90a/cluster.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/dependent_launch.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "tests/device/sm90a_cluster.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

constexpr unsigned kMaxBlocks = 16;

__device__ Extent extent_of(dim3 d) { return {d.x, d.y, d.z}; }

__global__ void view_kernel(ClusterView* g_views) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (threadIdx.x == 0) {
    g_views[block] = {cluster_rank(), cluster_blocks(), extent_of(cluster_block_index()),
                      extent_of(cluster_extent()), extent_of(cluster_index())};
  }
}

__global__ void exchange_kernel(std::uint32_t* g_out) {
  ROOFTILE_DYN_SHARED(std::uint32_t, s_inbox);
  __shared__ std::uint32_t s_own[kClusterThreads];
  const unsigned t = threadIdx.x;
  const unsigned blocks = cluster_blocks();
  const unsigned next = (cluster_rank() + 1) % blocks;
  s_own[t] = 10 * blockIdx.x + t;
  cluster_sync();  // every block has started and written its own
  const std::uint32_t of_next = map_shared_rank(s_own, next)[t];
  map_shared_rank(s_inbox, next)[t] = blockIdx.x + t;
  cluster_sync();  // every inbox is written, and nobody reads remote memory any more
  g_out[blockIdx.x * kClusterThreads + t] = of_next + 1000 * s_inbox[t];
}

__global__ void split_barriers_kernel(unsigned rounds, std::uint32_t* g_out) {
  __shared__ std::uint32_t s_counter;
  const unsigned blocks = cluster_blocks();
  if (threadIdx.x == 0) s_counter = 0;
  cluster_arrive_relaxed();
  cluster_wait();
  cluster_sync();  // every counter is zero
  for (unsigned r = 0; r < rounds; ++r) {
    // In round r block b writes to the counter of block b + r: one writer each.
    if (threadIdx.x == 0) {
      *map_shared_rank(&s_counter, (cluster_rank() + r) % blocks) += cluster_rank() + 1;
    }
    cluster_arrive();
    cluster_wait();
  }
  if (threadIdx.x == 0) g_out[blockIdx.x] = s_counter;
}

__global__ void store_async_kernel(std::uint32_t* g_out) {
  __shared__ std::uint32_t s_words[kMaxBlocks];
  __shared__ std::uint64_t s_pairs[kMaxBlocks];
  __shared__ __align__(16) uint4 s_quads[kMaxBlocks];
  __shared__ Mbarrier s_full;
  const unsigned rank = cluster_rank();
  const unsigned blocks = cluster_blocks();
  if (threadIdx.x == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&s_full, blocks * 28);
  }
  cluster_sync();  // every block's barrier is there
  if (threadIdx.x < blocks) {
    const unsigned to = threadIdx.x;
    store_async(&s_words[rank], 100 * rank + to, &s_full, to);
    store_async(&s_pairs[rank], (std::uint64_t{rank + 1} << 32) + to, &s_full, to);
    store_async(&s_quads[rank], uint4{rank, to, rank * to, ~rank}, &s_full, to);
  }
  mbarrier_wait<MbarrierScope::cluster>(&s_full, 0);
  if (threadIdx.x < blocks) {
    const unsigned from = threadIdx.x;
    std::uint32_t* g_words = g_out + (blockIdx.x * blocks + from) * 7;
    g_words[0] = s_words[from];
    g_words[1] = static_cast<std::uint32_t>(s_pairs[from]);
    g_words[2] = static_cast<std::uint32_t>(s_pairs[from] >> 32);
    g_words[3] = s_quads[from].x;
    g_words[4] = s_quads[from].y;
    g_words[5] = s_quads[from].z;
    g_words[6] = s_quads[from].w;
  }
  cluster_sync();  // no block leaves while stores are under way
}

__global__ void remote_arrivals_kernel(unsigned rounds, std::uint32_t* g_sums) {
  __shared__ std::uint32_t s_values[kMaxBlocks * kClusterThreads];
  __shared__ Mbarrier s_written;
  __shared__ Mbarrier s_read;
  const unsigned t = threadIdx.x;
  const unsigned rank = cluster_rank();
  const unsigned blocks = cluster_blocks();
  if (t == 0) {
    mbarrier_init(&s_written, (blocks - 1) * (kClusterThreads + 1));
    mbarrier_init(&s_read, 1);
    fence_mbarrier_init();
  }
  cluster_sync();  // every block's barriers are there
  for (unsigned r = 0; r < rounds; ++r) {
    if (rank != 0) {
      mbarrier_wait<MbarrierScope::cluster>(&s_read, (r + 1) % 2);
      map_shared_rank(s_values, 0)[rank * kClusterThreads + t] = r + rank * t;
      mbarrier_arrive_remote(&s_written, 0, t == 7 ? 2 : 1);
    } else {
      mbarrier_wait<MbarrierScope::cluster>(&s_written, r % 2);
      __syncthreads();  // all have seen this phase before thread 0 lets the next two pass
      if (t == 0) {
        std::uint32_t sum = 0;
        for (unsigned i = kClusterThreads; i < blocks * kClusterThreads; ++i) sum += s_values[i];
        g_sums[r] = sum;
        for (unsigned to = 1; to < blocks; ++to) mbarrier_arrive_remote(&s_read, to);
      }
    }
  }
  cluster_sync();  // block 0's memory stays until all have arrived there
}

__global__ void send_kernel(unsigned bytes, const std::byte* g_in, std::byte* g_out) {
  ROOFTILE_DYN_SHARED(std::byte, s_data);  // [2][bytes]: what is sent, and what comes
  __shared__ Mbarrier s_full;
  const unsigned next = (cluster_rank() + 1) % cluster_blocks();
  std::byte* s_inbox = s_data + bytes;
  const std::size_t offset = std::size_t{blockIdx.x} * bytes;
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) s_data[i] = g_in[offset + i];
  fence_proxy_async<FenceSpace::shared_cluster>();
  if (threadIdx.x == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
  }
  cluster_sync();  // barriers are there; what is sent is complete, and fenced by who wrote it
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx_remote(&s_full, next, bytes);
    bulk_send(s_inbox, s_data, bytes, &s_full, next);
  }
  mbarrier_wait<MbarrierScope::cluster>(&s_full, 0);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) g_out[offset + i] = s_inbox[i];
  cluster_sync();  // what is sent has arrived: its memory may go
}

__global__ void chain_kernel(unsigned count, std::uint32_t* g_values) {
  launch_dependents();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  wait_for_prerequisites();  // g_values holds the result of the launch before
  if (i < count) g_values[i] = 2 * g_values[i] + 1;
}

LaunchConfig config_of(StreamRef stream, unsigned clusters, unsigned blocks, std::size_t shared_bytes = 0) {
  return {.grid = dim3(clusters * blocks),
          .block = dim3(kClusterThreads),
          .shared_bytes = shared_bytes,
          .stream = stream,
          .cluster = dim3(blocks)};
}

Status run_view(StreamRef stream, Extent grid, Extent cluster, ClusterView* g_views) {
  return launch(view_kernel,
                {.grid = dim3(grid.x, grid.y, grid.z),
                 .block = dim3(kClusterThreads),
                 .stream = stream,
                 .cluster = dim3(cluster.x, cluster.y, cluster.z)},
                g_views);
}
Status run_exchange(StreamRef stream, unsigned clusters, unsigned blocks, std::uint32_t* g_out) {
  return launch(exchange_kernel, config_of(stream, clusters, blocks, kClusterThreads * sizeof(std::uint32_t)),
                g_out);
}
Status run_split_barriers(StreamRef stream, unsigned clusters, unsigned blocks, unsigned rounds,
                          std::uint32_t* g_out) {
  return launch(split_barriers_kernel, config_of(stream, clusters, blocks), rounds, g_out);
}
Status run_store_async(StreamRef stream, unsigned blocks, std::uint32_t* g_out) {
  return launch(store_async_kernel, config_of(stream, 1, blocks), g_out);
}
Status run_remote_arrivals(StreamRef stream, unsigned blocks, unsigned rounds, std::uint32_t* g_sums) {
  return launch(remote_arrivals_kernel, config_of(stream, 1, blocks), rounds, g_sums);
}
Status run_send(StreamRef stream, unsigned blocks, unsigned bytes, const std::byte* g_in, std::byte* g_out) {
  return launch(send_kernel, config_of(stream, 1, blocks, std::size_t{2} * bytes), bytes, g_in, g_out);
}
Status run_link(StreamRef stream, unsigned count, std::uint32_t* g_values) {
  return launch(chain_kernel,
                {.grid = dim3((count + kClusterThreads - 1) / kClusterThreads),
                 .block = dim3(kClusterThreads),
                 .stream = stream,
                 .dependent = true},
                count, g_values);
}

}  // namespace

ClusterKernels cluster_test_kernels() {
  return {run_view, run_exchange, run_split_barriers, run_store_async, run_remote_arrivals,
          run_send, run_link};
}

}  // namespace rooftile::ROOFTILE_TARGET
