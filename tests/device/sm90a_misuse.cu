#include "tests/device/sm90a_misuse.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/tma.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

constexpr unsigned kBytes = kMisuseWords * sizeof(std::uint32_t);

// The map is of kMisuseWords / 8 rows of 32 bytes at g_in, the box is all of it.
__global__ void misuse_kernel(Misuse misuse, const __grid_constant__ TensorMap map, const std::uint32_t* g_in,
                              std::uint32_t* g_out) {
  ROOFTILE_DYN_SHARED(std::uint32_t, s_data);
  __shared__ Mbarrier s_full;
  __shared__ Mbarrier s_other;
  const unsigned t = threadIdx.x;
  auto* s_bytes = reinterpret_cast<std::byte*>(s_data);
  if (t == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barrier is there
  const auto load = [&](unsigned expected) {
    mbarrier_arrive_expect_tx(&s_full, expected);
    bulk_load(s_data, g_in, kBytes, &s_full);
  };

  switch (misuse) {
    case Misuse::none:
    case Misuse::load_read_before_its_wait:
    case Misuse::store_source_overwritten:
    case Misuse::store_read_before_it_is_written:
      if (t == 0) load(kBytes);
      if (misuse == Misuse::load_read_before_its_wait) {
        __syncthreads();
        g_out[t] = s_data[t];
        mbarrier_wait(&s_full, 0);
        return;
      }
      mbarrier_wait(&s_full, 0);
      fence_proxy_async<FenceSpace::shared_block>();
      __syncthreads();
      if (t == 0) {
        bulk_store(g_out, s_data, kBytes);
        bulk_commit();
        if (misuse == Misuse::none) bulk_wait<0>();
        if (misuse == Misuse::store_read_before_it_is_written) bulk_wait_read<0>();
        for (unsigned i = 0; i < kMisuseWords; ++i) s_data[i] = 7;
        if (misuse == Misuse::store_source_overwritten) bulk_wait<0>();
        g_out[kMisuseWords] = g_out[0];
      }
      break;
    case Misuse::returns_before_the_load:
      if (t == 0) load(kBytes);
      break;
    case Misuse::returns_before_the_store:
      if (t == 0) {
        bulk_store(g_out, s_data, kBytes);
        bulk_commit();
      }
      break;
    case Misuse::expects_too_few_bytes:
      if (t == 0) load(kBytes - 16);
      mbarrier_wait(&s_full, 0);
      break;
    case Misuse::expects_too_many_bytes:
      if (t == 0) load(kBytes + 16);
      mbarrier_wait(&s_full, 0);
      break;
    case Misuse::never_initialised:
      s_other.bits = 0;
      mbarrier_wait(&s_other, 0);
      break;
    case Misuse::too_many_arrivals:
      mbarrier_init(&s_other, 3);
      mbarrier_arrive(&s_other, 4);
      break;
    case Misuse::parity_of_two:
      mbarrier_wait(&s_full, 2);
      break;
    case Misuse::expects_more_than_it_counts:
      mbarrier_expect_tx(&s_full, 1u << 20);
      break;
    case Misuse::misaligned_bulk_source:
      bulk_load(s_data, g_in + 1, 16, &s_full);
      break;
    case Misuse::misaligned_bulk_destination:
      bulk_load(s_data + 2, g_in, 16, &s_full);
      break;
    case Misuse::odd_bulk_size:
      bulk_load(s_data, g_in, 24, &s_full);
      break;
    case Misuse::misaligned_tile:
      tma_load(s_bytes + 16, map, {0, 0}, &s_full);
      break;
    case Misuse::tile_off_the_swizzles_repeat:
      tma_load(s_bytes + 128, map, {0, 0}, &s_full);
      break;
    case Misuse::tile_larger_than_shared_memory:
      tma_load(s_bytes + 512, map, {0, 0}, &s_full);
      break;
    case Misuse::coordinates_of_another_rank:
      tma_load(s_data, map, {0, 0, 0}, &s_full);
      break;
    case Misuse::box_off_16_bytes:
      tma_load(s_data, map, {-2, 0}, &s_full);
      break;
    case Misuse::store_before_the_tensor:
      tma_store(map, {0, -1}, s_data);
      break;
    case Misuse::not_shared_memory:
      bulk_load(g_out, g_in, kBytes, &s_full);
      break;
    case Misuse::sends_past_shared_memory:
      bulk_send(s_bytes + 384, s_bytes, kBytes, &s_full, 1);
      break;
    case Misuse::misaligned_store_async:
      store_async(reinterpret_cast<std::uint64_t*>(s_data + 1), std::uint64_t{t}, &s_full, 1);
      break;
    case Misuse::store_async_alone:
      store_async(&s_data[t], t, &s_full, 0);
      break;
    case Misuse::rank_outside_the_cluster:
      g_out[t] = *map_shared_rank(s_data, 2);
      break;
    case Misuse::mask_outside_the_cluster:
      bulk_load_multicast(s_data, g_in, 16, &s_full, 0b100);
      break;
    case Misuse::waits_without_arriving:
      cluster_wait();
      break;
    case Misuse::arrives_twice:
      cluster_arrive();
      cluster_arrive();
      break;
    case Misuse::maps_a_block_that_returned:
      if (cluster_rank() == 1) return;
      cluster_sync();
      g_out[t] = *map_shared_rank(s_data + t, 1);
      break;
  }
}

}  // namespace

// Clusters of two blocks, 512 bytes of dynamic shared memory each.
Status run_misuse(StreamRef stream, Misuse misuse, const std::uint32_t* g_in, std::uint32_t* g_out) {
  TensorMapSpec spec{.data = const_cast<std::uint32_t*>(g_in),
                     .dtype = DType::u32,
                     .rank = 2,
                     .swizzle = TileSwizzle::bytes32};
  spec.extents = {8, kMisuseWords / 8};
  spec.strides = {1, 8};
  spec.box = {8, kMisuseWords / 8};
  TensorMap map;
  ROOFTILE_TRY(make_tensor_map(map, spec));
  const bool clustered = misuse >= Misuse::rank_outside_the_cluster;
  return launch(misuse_kernel,
                {.grid = dim3(clustered ? 2 : 1),
                 .block = dim3(kMisuseWords),
                 .shared_bytes = 512,
                 .stream = stream,
                 .cluster = dim3(clustered ? 2 : 1)},
                misuse, map, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET
