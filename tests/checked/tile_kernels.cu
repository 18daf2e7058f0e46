// Tiles that TMA stores, and loads for a whole cluster, with one planted bug each; the comments BUG name the line that a
// report must give.
#include "tests/checked/tile_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/stmatrix.h"
#include "rooftile/device/sm90a/tma.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr std::uint32_t kBytes = kTileRows * kTileHalves * 2;

__global__ void store_kernel(TileBug bug, const __grid_constant__ TensorMap map, unsigned short* g_out) {
  __shared__ __align__(128) unsigned short s_tile[kTileRows][kTileHalves];
  const int lane = static_cast<int>(threadIdx.x);
  if (bug == TileBug::store_uninitialised) {
    const std::uint32_t r[2] = {0x00010001u, 0x00020002u};
    stmatrix(s_tile[lane], r);
  } else {
    const std::uint32_t r[4] = {0x00010001u, 0x00020002u, 0x00030003u, 0x00040004u};
    stmatrix(s_tile[lane], r);  // BUG store_without_fence
  }
  if (bug != TileBug::store_without_fence) fence_proxy_async<FenceSpace::shared_block>();
  __syncwarp();  // the tile is complete
  if (lane != 0) return;
  tma_store(map, {0, 0}, s_tile);  // BUG store
  if (bug != TileBug::store_not_committed) bulk_commit();
  if (bug == TileBug::store_overwritten) {
    s_tile[0][0] = 1;  // BUG store_overwritten
  }
  bulk_wait_read<0>();
  if (bug == TileBug::store_not_committed) return;
  s_tile[0][0] = 2;
  if (bug == TileBug::store_read_back_early) {
    g_out[0] += 1;  // BUG store_read_back_early
  }
  bulk_wait<0>();
  g_out[0] += 1;
}

// Block 0 loads for both: into the one stage that each has, when both have read what was there.
__global__ void multicast_kernel(TileBug bug, const __grid_constant__ TensorMap map, float* g_sums) {
  __shared__ __align__(128) unsigned short s_tile[kTileRows * kTileHalves];
  __shared__ Mbarrier s_full;
  __shared__ Mbarrier s_empty;  // block 0's, at which both arrive
  const int t = static_cast<int>(threadIdx.x);
  const bool is_alone = bug == TileBug::multicast_over_other_block;
  if (t == 0) {
    mbarrier_init(&s_full, 1);
    mbarrier_init(&s_empty, is_alone ? 1 : 2);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&s_full, kBytes);
  }
  cluster_sync();  // both blocks expect the first tile
  float sum = 0;
  for (int round = 0; round < kTileRounds; ++round) {
    const std::uint32_t parity = static_cast<std::uint32_t>(round) % 2;
    if (t == 0) {
      if (round > 0) mbarrier_arrive_expect_tx(&s_full, kBytes);
      if (cluster_rank() == 0) {
        if (round > 0) mbarrier_wait<MbarrierScope::cluster>(&s_empty, parity ^ 1);
        const std::uint16_t blocks = bug == TileBug::multicast_to_itself_alone ? 1 : 3;
        tma_load_multicast(s_tile, map, {0, round * kTileRows}, &s_full, blocks);  // BUG multicast
      }
    }
    const bool early = bug == TileBug::multicast_not_waited && round == kTileRounds - 1;
    if (!early) mbarrier_wait(&s_full, parity);  // BUG wait
    sum += static_cast<float>(s_tile[t]);        // BUG read
    if (early) mbarrier_wait(&s_full, parity);
    __syncthreads();  // all of the block have read
    if (t == 0 && (!is_alone || cluster_rank() == 0)) mbarrier_arrive_remote(&s_empty, 0);
  }
  g_sums[static_cast<int>(blockIdx.x) * kTileRows * kTileHalves + t] = sum;
  cluster_sync();  // before the end
}

Status make_map(TensorMap& map, unsigned short* data, int rounds) {
  TensorMapSpec spec;
  spec.data = data;
  spec.dtype = DType::f16;
  spec.rank = 2;
  spec.extents = {kTileHalves, static_cast<std::int64_t>(rounds) * kTileRows};
  spec.strides = {1, kTileHalves};
  spec.box = {kTileHalves, kTileRows};
  return make_tensor_map(map, spec);
}

}  // namespace

Status run_tile_bug(StreamRef stream, TileBug bug, unsigned short* g_in, unsigned short* g_out,
                    float* g_sums) {
  TensorMap map;
  if (bug <= TileBug::store_not_committed) {
    ROOFTILE_TRY(make_map(map, g_out, 1));
    return launch(store_kernel, {.block = kTileRows, .stream = stream}, bug, map, g_out);
  }
  ROOFTILE_TRY(make_map(map, g_in, kTileRounds));
  return launch(
      multicast_kernel,
      {.grid = dim3(2), .block = dim3(kTileRows * kTileHalves), .stream = stream, .cluster = dim3(2)}, bug,
      map, g_sums);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
