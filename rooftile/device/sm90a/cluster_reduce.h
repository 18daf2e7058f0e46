// One value from all threads of a cluster, in every one of them, with one wait.
//
//   __shared__ ClusterFound<float, kWarps> s_found;
//   ... s_found.init() by one thread, fence_mbarrier_init(), cluster_sync() ...
//   total = cluster_all_reduce(s_found, 0, own, identity, combine, over_lanes);
//
// Every warp combines what its lanes have, and sends it to all blocks of the cluster (st.async); each block waits until all
// have come. (One message for a block, after a barrier of its warps, took 3 % longer with 8 warps.) A block that has them
// all may return: nobody writes to it any more. Used again with the other parity, once the others have certainly read: after
// a second ClusterFound has been through in between, or a barrier of the cluster. The order of every combination is fixed.
//
// Source: PTX ISA, st.async, mbarrier.
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/core/row_ring_plan.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET {

// T has 4, 8 or 16 bytes.
template <class T, int kWarps>
struct ClusterFound {
  Mbarrier there;
  T values[kMostClusterBlocks * kWarps];
  __device__ __forceinline__ void init() { mbarrier_init(&there, 1); }
};

// By the first kWarps warps of all blocks, two blocks at least. over_lanes(lanes, x) as in row_threads.h, combine(a, b) for two.
template <class T, int kWarps, class Combine, class OverLanes>
__device__ __forceinline__ T cluster_all_reduce(ClusterFound<T, kWarps>& s_found, std::uint32_t parity, T own,
                                                T identity, Combine combine, OverLanes over_lanes) {
  constexpr std::integral_constant<int, kWarpSize> kWarp;
  own = over_lanes(kWarp, own);
  const int lane = lane_index();
  const auto blocks = static_cast<int>(cluster_blocks());
  const int count = blocks * kWarps;
  if (threadIdx.x == 0)
    mbarrier_arrive_expect_tx(&s_found.there, static_cast<std::uint32_t>(count * sizeof(T)));
  if (lane < blocks) {
    store_async(s_found.values + static_cast<int>(cluster_rank()) * kWarps + warp_index(), own,
                &s_found.there, static_cast<std::uint32_t>(lane));
  }
  mbarrier_wait<MbarrierScope::cluster>(&s_found.there, parity);
  T all = lane < count ? s_found.values[lane] : identity;
  for (int i = lane + kWarpSize; i < count; i += kWarpSize) all = combine(all, s_found.values[i]);
  return over_lanes(kWarp, all);
}

}  // namespace rooftile::ROOFTILE_TARGET
