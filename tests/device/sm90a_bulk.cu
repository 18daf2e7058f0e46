#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/l2_policy.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/cluster.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/types.h"
#include "tests/device/sm90a_bulk.h"

namespace rooftile::ROOFTILE_TARGET {
namespace {

using namespace testing_sm90a;  // NOLINT(google-build-using-namespace): the tests' own names

constexpr unsigned kThreads = 64;
constexpr unsigned kStages = 4;

__global__ void copy_kernel(const std::byte* g_in, unsigned bytes, std::byte* g_out) {
  ROOFTILE_DYN_SHARED(std::byte, s_data);
  __shared__ Mbarrier s_full;
  const std::size_t offset = std::size_t{blockIdx.x} * bytes;
  if (threadIdx.x == 0) {
    bulk_prefetch(g_in + offset, bytes);
    bulk_prefetch_by_policy(g_in + offset, bytes, l2_evict_first());
    bulk_prefetch_by_policy(g_in + offset, bytes, l2_evict_normal());
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
    // The bytes are expected in two parts, and copied in two.
    mbarrier_expect_tx(&s_full, 16);
    mbarrier_arrive_expect_tx(&s_full, bytes - 16);
    bulk_load(s_data, g_in + offset, 16, &s_full);
    if (bytes > 16)
      bulk_load_by_policy(s_data + 16, g_in + offset + 16, bytes - 16, &s_full, l2_evict_first());
    mbarrier_wait(&s_full, 0);
    bulk_store(g_out + offset, s_data, bytes);
    bulk_commit();
    bulk_wait<0>();
  }
}

__global__ void through_global_kernel(const std::byte* g_in, unsigned bytes, std::byte* g_scratch,
                                      std::byte* g_out) {
  ROOFTILE_DYN_SHARED(std::byte, s_data);
  __shared__ Mbarrier s_full;
  if (threadIdx.x == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
  }
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) g_scratch[i] = g_in[i];
  fence_proxy_async<FenceSpace::global>();
  __syncthreads();  // g_scratch is complete, and fenced by who wrote it; the barrier is there
  if (threadIdx.x == 0) {
    mbarrier_arrive_expect_tx(&s_full, bytes);
    bulk_load(s_data, g_scratch, bytes, &s_full);
  }
  mbarrier_wait(&s_full, 0);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) g_out[i] = s_data[i];
}

// Warp 0 produces, warp 1 consumes.
__global__ void ring_kernel(const std::byte* g_in, unsigned chunks, unsigned chunk, unsigned mask,
                            std::byte* g_out) {
  ROOFTILE_DYN_SHARED(std::byte, s_data);  // [2 * kStages][chunk]: what comes in, and what goes out
  __shared__ Mbarrier s_full[kStages];
  __shared__ Mbarrier s_empty[kStages];
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < kStages; ++s) {
      mbarrier_init(&s_full[s], 1);
      mbarrier_init(&s_empty[s], 32);
    }
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are there
  if (threadIdx.x == 0) {
    for (unsigned c = 0; c < chunks; ++c) {
      const unsigned s = c % kStages;
      mbarrier_wait(&s_empty[s], (c / kStages + 1) % 2);  // round 0 finds every slot free
      mbarrier_arrive_expect_tx(&s_full[s], chunk);
      bulk_load(s_data + s * chunk, g_in + std::size_t{c} * chunk, chunk, &s_full[s]);
    }
  } else if (threadIdx.x >= 32) {
    const unsigned lane = threadIdx.x - 32;
    for (unsigned c = 0; c < chunks; ++c) {
      const unsigned s = c % kStages;
      const std::byte* s_in = s_data + s * chunk;
      std::byte* s_out = s_data + (kStages + s) * chunk;
      mbarrier_wait(&s_full[s], c / kStages % 2);
      if (lane == 0) bulk_wait_read<kStages - 1>();  // the store from this slot a round ago has read it
      __syncwarp();
      for (unsigned i = lane; i < chunk; i += 32) s_out[i] = s_in[i] ^ static_cast<std::byte>(mask);
      mbarrier_arrive(&s_empty[s]);
      fence_proxy_async<FenceSpace::shared_block>();
      __syncwarp();  // the chunk is complete, and fenced by who wrote it
      if (lane == 0) {
        bulk_store(g_out + std::size_t{c} * chunk, s_out, chunk);
        bulk_commit();
      }
    }
    if (lane == 0) bulk_wait<0>();
  }
}

__global__ void multicast_kernel(const std::byte* g_in, unsigned mask, unsigned bytes, std::byte* g_out) {
  ROOFTILE_DYN_SHARED(std::byte, s_data);
  __shared__ Mbarrier s_full;
  const unsigned rank = cluster_rank();
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) s_data[i] = std::byte{0xee};
  fence_proxy_async<FenceSpace::shared_block>();
  const bool named = (mask >> rank & 1u) != 0;
  if (threadIdx.x == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(&s_full, named ? bytes : 0);
  }
  cluster_sync();  // every block's barrier and fill are there
  if (rank == 0 && threadIdx.x == 0) {
    bulk_load_multicast(s_data, g_in, bytes, &s_full, static_cast<std::uint16_t>(mask));
  }
  mbarrier_wait(&s_full, 0);
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) {
    g_out[std::size_t{blockIdx.x} * bytes + i] = s_data[i];
  }
  cluster_sync();  // block 0, which issued the copy, stays until all have it
}

template <BulkReduction kOp, class T>
__global__ void reduce_kernel(const T* g_in, unsigned count, T* g_out) {
  ROOFTILE_DYN_SHARED(T, s_data);
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) s_data[i] = g_in[i];
  fence_proxy_async<FenceSpace::all>();
  __syncthreads();  // the elements are complete, and fenced by who wrote them
  if (threadIdx.x == 0) {
    bulk_reduce<kOp>(g_out, s_data, count * static_cast<unsigned>(sizeof(T)));
    bulk_commit();
    bulk_wait_read<0>();
  }
}

__global__ void phases_kernel(std::uint32_t* g_passed) {
  __shared__ Mbarrier s_barrier;
  if (threadIdx.x != 0) return;
  int step = 0;
  const auto note = [&](unsigned parity) {
    g_passed[step++] = mbarrier_try_wait(&s_barrier, parity) ? 1 : 0;
  };
  mbarrier_init(&s_barrier, 3);
  fence_mbarrier_init();
  note(1);  // the phase before the first: passes
  mbarrier_arrive(&s_barrier, 2);
  note(0);  // one arrival is missing
  mbarrier_arrive(&s_barrier);
  note(0);  // phase 0 has completed
  note(1);  // phase 1 has not
  mbarrier_arrive(&s_barrier, 3);
  note(1);  // phase 1 has completed; phase 2 has parity 0 again
  note(0);
  mbarrier_inval(&s_barrier);
  mbarrier_init(&s_barrier, 1);
  fence_mbarrier_init();
  note(0);  // a fresh barrier
  mbarrier_arrive(&s_barrier);
  note(0);
}

__global__ void arrivals_kernel(unsigned rounds, std::uint32_t* g_sums) {
  __shared__ Mbarrier s_written;
  __shared__ Mbarrier s_read;
  __shared__ std::uint32_t s_values[kThreads];
  const unsigned t = threadIdx.x;
  if (t == kArrivingThreads) {
    mbarrier_init(&s_written, kArrivingThreads + 1);  // thread 5 arrives for two
    mbarrier_init(&s_read, 1);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are there
  for (unsigned r = 0; r < rounds; ++r) {
    if (t < kArrivingThreads) {
      mbarrier_wait(&s_read, (r + 1) % 2);
      s_values[t] = t + 100 * r;
      mbarrier_arrive(&s_written, t == 5 ? 2 : 1);
    } else {
      mbarrier_wait(&s_written, r % 2);
      std::uint32_t sum = 0;
      for (unsigned i = 0; i < kArrivingThreads; ++i) sum += s_values[i];
      g_sums[r] = sum;
      mbarrier_arrive(&s_read);
    }
  }
}

LaunchConfig config_of(StreamRef stream, unsigned blocks, std::size_t shared_bytes) {
  return {.grid = dim3(blocks), .block = dim3(kThreads), .shared_bytes = shared_bytes, .stream = stream};
}

Status run_copy(StreamRef stream, const std::byte* g_in, unsigned blocks, unsigned bytes, std::byte* g_out) {
  return launch(copy_kernel, config_of(stream, blocks, bytes), g_in, bytes, g_out);
}

Status run_through_global(StreamRef stream, const std::byte* g_in, unsigned bytes, std::byte* g_scratch,
                          std::byte* g_out) {
  return launch(through_global_kernel, config_of(stream, 1, bytes), g_in, bytes, g_scratch, g_out);
}

Status run_ring(StreamRef stream, const std::byte* g_in, unsigned chunks, unsigned chunk, unsigned mask,
                std::byte* g_out) {
  return launch(ring_kernel, config_of(stream, 1, 2 * kStages * chunk), g_in, chunks, chunk, mask, g_out);
}

Status run_multicast(StreamRef stream, const std::byte* g_in, unsigned blocks, unsigned mask, unsigned bytes,
                     std::byte* g_out) {
  LaunchConfig config = config_of(stream, blocks, bytes);
  config.cluster = dim3(blocks);
  return launch(multicast_kernel, config, g_in, mask, bytes, g_out);
}

template <BulkReduction kOp, class T>
Status run_reduce_of(StreamRef stream, const void* g_in, unsigned count, unsigned blocks, void* g_out) {
  return launch(reduce_kernel<kOp, T>, config_of(stream, blocks, count * sizeof(T)),
                static_cast<const T*>(g_in), count, static_cast<T*>(g_out));
}

template <class T>
Status run_reduce_with(StreamRef stream, BulkOp op, const void* g_in, unsigned count, unsigned blocks,
                       void* g_out) {
  if (op == BulkOp::add) return run_reduce_of<BulkReduction::add, T>(stream, g_in, count, blocks, g_out);
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    return unsupported("no such reduction");
  } else {
    return op == BulkOp::min ? run_reduce_of<BulkReduction::min, T>(stream, g_in, count, blocks, g_out)
                             : run_reduce_of<BulkReduction::max, T>(stream, g_in, count, blocks, g_out);
  }
}

Status run_reduce(StreamRef stream, BulkOp op, DType dtype, const void* g_in, unsigned count, unsigned blocks,
                  void* g_out) {
  switch (dtype) {
    case DType::i32:
      return run_reduce_with<std::int32_t>(stream, op, g_in, count, blocks, g_out);
    case DType::i64:
      return run_reduce_with<std::int64_t>(stream, op, g_in, count, blocks, g_out);
    case DType::u32:
      return run_reduce_with<std::uint32_t>(stream, op, g_in, count, blocks, g_out);
    case DType::u64:
      return run_reduce_with<std::uint64_t>(stream, op, g_in, count, blocks, g_out);
    case DType::f16:
      return run_reduce_with<__half>(stream, op, g_in, count, blocks, g_out);
    case DType::bf16:
      return run_reduce_with<__nv_bfloat16>(stream, op, g_in, count, blocks, g_out);
    case DType::f32:
      return run_reduce_with<float>(stream, op, g_in, count, blocks, g_out);
    default:
      return run_reduce_with<double>(stream, op, g_in, count, blocks, g_out);
  }
}

Status run_phases(StreamRef stream, std::uint32_t* g_passed) {
  return launch(phases_kernel, config_of(stream, 1, 0), g_passed);
}

Status run_arrivals(StreamRef stream, unsigned rounds, std::uint32_t* g_sums) {
  return launch(arrivals_kernel, config_of(stream, 1, 0), rounds, g_sums);
}

}  // namespace

BulkKernels bulk_test_kernels() {
  return {run_copy, run_through_global, run_ring, run_multicast, run_reduce, run_phases, run_arrivals};
}

}  // namespace rooftile::ROOFTILE_TARGET
