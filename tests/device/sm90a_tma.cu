#include "rooftile/device/sm90a/tma.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/l2_policy.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/tensor_map.h"
#include "tests/device/sm90a_tma.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

constexpr unsigned kThreads = 96;
constexpr unsigned kStages = 3;

template <int kRank>
struct Coordinates {
  std::int32_t c[kRank];
};

template <int kRank>
__device__ Coordinates<kRank> coordinates(const TileAt& at) {
  Coordinates<kRank> result;
  for (int d = 0; d < kRank; ++d) result.c[d] = at.c[d];
  return result;
}

__device__ void copy_tile(std::byte* destination, const std::byte* source, unsigned bytes) {
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) destination[i] = source[i];
}

// Blocks tell L2 nothing, or one of the two things that it may be told, by turns.
template <int kRank>
__global__ void load_kernel(const __grid_constant__ TensorMap map, const TileAt* g_at, unsigned bytes,
                            unsigned turn, std::byte* g_tiles) {
  ROOFTILE_DYN_SHARED(std::byte, s_tile);
  __shared__ Mbarrier s_full;
  const auto at = coordinates<kRank>(g_at[blockIdx.x]);
  if (threadIdx.x == 0) {
    prefetch_tensor_map(map);
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barrier is there
  if (threadIdx.x == 0) {
    const unsigned way = (blockIdx.x + turn) % 3;
    const L2Policy policy = way == 1 ? l2_evict_first() : l2_evict_normal();
    mbarrier_arrive_expect_tx(&s_full, bytes);
    if (way == 0) {
      tma_prefetch(map, at.c);
      tma_load(s_tile, map, at.c, &s_full);
    } else {
      tma_prefetch_by_policy(map, at.c, policy);
      tma_load_by_policy(s_tile, map, at.c, &s_full, policy);
    }
  }
  mbarrier_wait(&s_full, 0);
  copy_tile(g_tiles + std::size_t{blockIdx.x} * bytes, s_tile, bytes);
}

template <int kRank>
__global__ void store_kernel(const __grid_constant__ TensorMap map, const TileAt* g_at, unsigned bytes,
                             const std::byte* g_tiles) {
  ROOFTILE_DYN_SHARED(std::byte, s_tile);
  const auto at = coordinates<kRank>(g_at[blockIdx.x]);
  copy_tile(s_tile, g_tiles + std::size_t{blockIdx.x} * bytes, bytes);
  fence_proxy_async<FenceSpace::shared_block>();
  __syncthreads();  // the tile is complete, and fenced by who wrote it
  if (threadIdx.x == 0) {
    tma_store(map, at.c, s_tile);
    bulk_commit();
    bulk_wait_read<0>();
  }
}

template <BulkReduction kOp, int kRank>
__global__ void reduce_kernel(const __grid_constant__ TensorMap map, const TileAt* g_at, unsigned bytes,
                              const std::byte* g_tiles) {
  ROOFTILE_DYN_SHARED(std::byte, s_tile);
  const auto at = coordinates<kRank>(g_at[blockIdx.x]);
  copy_tile(s_tile, g_tiles + std::size_t{blockIdx.x} * bytes, bytes);
  fence_proxy_async<FenceSpace::shared_block>();
  __syncthreads();  // the tile is complete, and fenced by who wrote it
  if (threadIdx.x == 0) {
    tma_reduce<kOp>(map, at.c, s_tile);
    bulk_commit();
    bulk_wait<0>();
  }
}

__global__ void multicast_kernel(const __grid_constant__ TensorMap map, const TileAt* g_at, unsigned bytes,
                                 std::byte* g_tiles) {
  ROOFTILE_DYN_SHARED(std::byte, s_tiles);  // of all blocks, one after the other
  __shared__ Mbarrier s_full;
  const unsigned rank = cluster_rank();
  const unsigned blocks = cluster_blocks();
  const auto at = coordinates<2>(g_at[rank]);
  if (threadIdx.x == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
  }
  cluster_sync();  // every block's barrier is there
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&s_full, bytes * blocks);  // tiles of others may have landed before
    tma_load_multicast(s_tiles + std::size_t{rank} * bytes, map, at.c, &s_full,
                       static_cast<std::uint16_t>((1u << blocks) - 1));
  }
  mbarrier_wait(&s_full, 0);
  copy_tile(g_tiles + std::size_t{blockIdx.x} * blocks * bytes, s_tiles, blocks * bytes);
}

// Warp 0's first lane loads ahead; all threads work; thread 32 stores. A slot is loaded again when its store
// has read it.
__global__ void ring_kernel(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out,
                            const TileAt* g_at, unsigned tiles, unsigned bytes, unsigned mask) {
  ROOFTILE_DYN_SHARED(std::byte, s_tiles);  // [kStages][bytes]
  __shared__ Mbarrier s_full[kStages];
  __shared__ Mbarrier s_empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      mbarrier_init(&s_full[s], 1);
      mbarrier_init(&s_empty[s], 1);
    }
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are there
  const auto load = [&](unsigned tile) {
    const unsigned s = tile % kStages;
    const unsigned round = tile / kStages;
    mbarrier_wait(&s_empty[s], (round + 1) % 2);  // round 0 finds every slot free
    mbarrier_arrive_expect_tx(&s_full[s], bytes);
    const auto at = coordinates<2>(g_at[tile]);
    tma_load(s_tiles + s * bytes, in, at.c, &s_full[s]);
  };
  if (threadIdx.x == 0) {
    for (unsigned tile = 0; tile < kStages - 1 && tile < tiles; ++tile) load(tile);
  }
  for (unsigned tile = 0; tile < tiles; ++tile) {
    const unsigned s = tile % kStages;
    mbarrier_wait(&s_full[s], tile / kStages % 2);
    std::byte* s_tile = s_tiles + s * bytes;
    for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) s_tile[i] ^= static_cast<std::byte>(mask);
    fence_proxy_async<FenceSpace::shared_block>();
    __syncthreads();  // the tile is complete, and fenced by who wrote it
    if (threadIdx.x == 32) {
      const auto at = coordinates<2>(g_at[tile]);
      tma_store(out, at.c, s_tile);
      bulk_commit();
      // The store before this one has been read: its slot is the one that is loaded next.
      bulk_wait_read<1>();
      if (tile > 0) mbarrier_arrive(&s_empty[(tile - 1) % kStages]);
    }
    if (threadIdx.x == 0 && tile + kStages - 1 < tiles) load(tile + kStages - 1);
  }
  if (threadIdx.x == 32) bulk_wait<0>();
}

// body.operator()<kRank>() for the spec's rank.
template <class Body>
Status by_rank(int rank, Body&& body) {
  switch (rank) {
    case 1:
      return body.template operator()<1>();
    case 2:
      return body.template operator()<2>();
    case 3:
      return body.template operator()<3>();
    case 4:
      return body.template operator()<4>();
    default:
      return body.template operator()<5>();
  }
}

LaunchConfig config_of(StreamRef stream, unsigned tiles, std::size_t shared_bytes) {
  return {.grid = dim3(tiles), .block = dim3(kThreads), .shared_bytes = shared_bytes, .stream = stream};
}

Status load_tiles(StreamRef stream, const TensorMapSpec& spec, const TileAt* g_at, unsigned tiles,
                  std::byte* g_tiles) {
  TensorMap map;
  ROOFTILE_TRY(make_tensor_map(map, spec));
  const std::size_t bytes = tile_bytes(spec);
  return by_rank(spec.rank, [&]<int kRank>() {
    // Another turn for specs of another kind: tests of one tile have all three, too.
    const auto turn = static_cast<unsigned>(kRank) + static_cast<unsigned>(spec.swizzle) / 32;
    return launch(load_kernel<kRank>, config_of(stream, tiles, bytes), map, g_at,
                  static_cast<unsigned>(bytes), turn, g_tiles);
  });
}

Status store_tiles(StreamRef stream, const TensorMapSpec& spec, const TileAt* g_at, unsigned tiles,
                   const std::byte* g_tiles) {
  TensorMap map;
  ROOFTILE_TRY(make_tensor_map(map, spec));
  const std::size_t bytes = tile_bytes(spec);
  return by_rank(spec.rank, [&]<int kRank>() {
    return launch(store_kernel<kRank>, config_of(stream, tiles, bytes), map, g_at,
                  static_cast<unsigned>(bytes), g_tiles);
  });
}

Status reduce_tiles(StreamRef stream, Reduction op, const TensorMapSpec& spec, const TileAt* g_at,
                    unsigned tiles, const std::byte* g_tiles) {
  TensorMap map;
  ROOFTILE_TRY(make_tensor_map(map, spec));
  const std::size_t bytes = tile_bytes(spec);
  return by_rank(spec.rank, [&]<int kRank>() {
    const auto kernel = op == Reduction::add   ? reduce_kernel<BulkReduction::add, kRank>
                        : op == Reduction::min ? reduce_kernel<BulkReduction::min, kRank>
                                               : reduce_kernel<BulkReduction::max, kRank>;
    return launch(kernel, config_of(stream, tiles, bytes), map, g_at, static_cast<unsigned>(bytes), g_tiles);
  });
}

Status multicast_tiles(StreamRef stream, const TensorMapSpec& spec, const TileAt* g_at, unsigned blocks,
                       std::byte* g_tiles) {
  TensorMap map;
  ROOFTILE_TRY(make_tensor_map(map, spec));
  const std::size_t bytes = tile_bytes(spec);
  LaunchConfig config = config_of(stream, 2 * blocks, blocks * bytes);
  config.cluster = dim3(blocks);
  return launch(multicast_kernel, config, map, g_at, static_cast<unsigned>(bytes), g_tiles);
}

Status ring_of_tiles(StreamRef stream, const TensorMapSpec& in, const TensorMapSpec& out, const TileAt* g_at,
                     unsigned tiles, unsigned mask) {
  TensorMap in_map;
  TensorMap out_map;
  ROOFTILE_TRY(make_tensor_map(in_map, in));
  ROOFTILE_TRY(make_tensor_map(out_map, out));
  const std::size_t bytes = tile_bytes(in);
  return launch(ring_kernel, config_of(stream, 1, kStages * bytes), in_map, out_map, g_at, tiles,
                static_cast<unsigned>(bytes), mask);
}

}  // namespace

TmaKernels tma_test_kernels() {
  return {load_tiles, store_tiles, reduce_tiles, multicast_tiles, ring_of_tiles};
}

}  // namespace rooftile::ROOFTILE_TARGET
