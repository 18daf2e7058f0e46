// Two blocks of a cluster that use each other's shared memory, with one planted bug each; the comments BUG
// name the line that a report must give.
#include "rooftile/device/target.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "tests/checked/kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kBlock = 64;
constexpr std::uint32_t kBytes = kBlock * sizeof(int);

__global__ void exchange_kernel(ClusterBug bug, const int* g_in, int* g_out) {
  __shared__ int s_values[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  const auto rank = static_cast<int>(cluster_rank());
  int* const remote = map_shared_rank(s_values, static_cast<std::uint32_t>(1 - rank));
  const int cluster = static_cast<int>(cluster_index().x);
  int* const g_own = g_out + (2 * cluster + rank) * kBlock;
  const int* const g_other = g_out + (2 * cluster + 1 - rank) * kBlock;
  if (bug != ClusterBug::remote_uninitialised || t != 5) s_values[t] = g_in[t];
  g_own[t] = rank;  // BUG global_not_ordered
  if (bug == ClusterBug::remote_read_early || bug == ClusterBug::global_not_ordered) {
    cluster_arrive_relaxed();
    cluster_wait();
  } else {
    cluster_sync();  // both blocks have written
  }
  if (bug == ClusterBug::remote_written_by_two) {
    if (t == 3) s_values[0] = 1;
    if (t == 4) remote[0] = 2;  // BUG remote_written_by_two
    cluster_sync();             // before the end
    return;
  }
  if (bug == ClusterBug::global_not_ordered) {
    s_values[t] = g_other[t];  // BUG global_not_ordered_read
    cluster_sync();            // before the end
    return;
  }
  const int value = remote[kBlock - 1 - t] + g_other[t];  // BUG remote_read_early
  if (bug == ClusterBug::left_early && rank == 0) return;
  cluster_arrive();  // BUG left_between
  if (bug == ClusterBug::left_between) return;
  cluster_wait();  // before the end
  if (bug != ClusterBug::left_early) g_own[t] = value;
}

// Block 0 sends to block 1, by a thread's stores and a remote arrival, by store_async, by a bulk copy.
__global__ void send_kernel(ClusterBug bug, const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_source[kBlock];
  __shared__ __align__(16) int s_values[kBlock];
  __shared__ Mbarrier s_full;
  const int t = static_cast<int>(threadIdx.x);
  const bool bulk = bug == ClusterBug::none_bulk_send || bug == ClusterBug::bulk_send_not_waited ||
                    bug == ClusterBug::bulk_send_overwritten || bug == ClusterBug::bulk_send_without_fence;
  if (t == 0) {
    mbarrier_init(&s_full, bug == ClusterBug::none_remote_arrive ? kBlock : 1);
    fence_mbarrier_init();
  }
  s_source[t] = g_in[t];
  if (bug != ClusterBug::bulk_send_without_fence) fence_proxy_async<FenceSpace::shared_block>();
  cluster_sync();  // the barriers are initialised
  if (cluster_rank() == 0) {
    if (bug == ClusterBug::none_remote_arrive) {
      map_shared_rank(s_values, 1)[t] = s_source[t];
      mbarrier_arrive_remote(&s_full, 1);
    } else if (bug == ClusterBug::none_store_async || bug == ClusterBug::store_async_not_waited) {
      store_async(&s_values[t], t, &s_full, 1);
    } else if (t == 0) {
      bulk_send(s_values, s_source, kBytes, &s_full, 1);  // BUG bulk_send_without_fence
      if (bug == ClusterBug::bulk_send_overwritten) {
        s_source[0] = 1;  // BUG bulk_send_overwritten
      }
    }
  } else {
    if (t == 0 && (bulk || bug != ClusterBug::none_remote_arrive)) {
      mbarrier_arrive_expect_tx(&s_full, kBytes);
    }
    const bool early = bug == ClusterBug::bulk_send_not_waited || bug == ClusterBug::store_async_not_waited;
    if (!early) mbarrier_wait<MbarrierScope::cluster>(&s_full, 0);
    g_out[static_cast<int>(blockIdx.x) * kBlock + t] = s_values[t];  // BUG send_not_waited
    if (early) mbarrier_wait<MbarrierScope::cluster>(&s_full, 0);
  }
  cluster_sync();  // before the end
}

// Block 0 loads for both.
__global__ void multicast_kernel(ClusterBug bug, const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_values[kBlock];
  __shared__ Mbarrier s_full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&s_full, kBytes);
  }
  cluster_sync();  // both barriers expect their bytes
  if (cluster_rank() == 0 && t == 0) bulk_load_multicast(s_values, g_in, kBytes, &s_full, 3);
  if (bug != ClusterBug::multicast_not_waited) mbarrier_wait(&s_full, 0);
  g_out[static_cast<int>(blockIdx.x) * kBlock + t] = s_values[t];  // BUG multicast_not_waited
  if (bug == ClusterBug::multicast_not_waited) mbarrier_wait(&s_full, 0);
  cluster_sync();  // before the end
}

}  // namespace

Status run_cluster_bug(StreamRef stream, ClusterBug bug, unsigned clusters, const int* g_in, int* g_out) {
  const auto run = [&](auto* kernel) {
    return launch(kernel,
                  {.grid = dim3(2 * clusters), .block = dim3(kBlock), .stream = stream, .cluster = dim3(2)},
                  bug, g_in, g_out);
  };
  if (bug <= ClusterBug::left_between) return run(exchange_kernel);
  if (bug <= ClusterBug::store_async_not_waited) return run(send_kernel);
  return run(multicast_kernel);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
