#include "rooftile/device/target.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "rooftile/device/launch.h"
#include "tests/sim/libcu_kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

namespace cg = cooperative_groups;
// The library's namespace, which rooftile::cuda hides.
namespace libcuda = ::cuda;

#pragma nv_diag_suppress static_var_with_dynamic_init

using BlockBarrier = libcuda::barrier<libcuda::thread_scope_block>;
constexpr int kBlock = 64;

__global__ void barrier_kernel(BarrierKind kind, const int* g_in, int* g_out) {
  __shared__ BlockBarrier s_barrier;
  __shared__ __align__(16) int s_values[kBlock];
  const auto block = cg::this_thread_block();
  const int t = static_cast<int>(threadIdx.x);
  const int arrivals = kind == BarrierKind::updates ? kBlock / 2 + 1 : kBlock;
  if (t == 0 && kind == BarrierKind::constructed) new (&s_barrier) BlockBarrier(arrivals);
  if (t == 0 && kind != BarrierKind::constructed) init(&s_barrier, arrivals);
  block.sync();
  switch (kind) {
    case BarrierKind::arrive_and_wait:
    case BarrierKind::constructed:
      s_values[t] = g_in[t];
      s_barrier.arrive_and_wait();
      break;
    case BarrierKind::tokens: {
      s_values[t] = g_in[t];
      auto token = s_barrier.arrive();
      s_barrier.wait(libcuda::std::move(token));
      break;
    }
    case BarrierKind::drop:
      s_values[t] = g_in[t];
      if (t >= 32) {
        s_barrier.arrive_and_drop();
        return;
      }
      for (int phase = 0; phase < 3; ++phase) s_barrier.arrive_and_wait();
      g_out[t] = s_values[t];
      g_out[kBlock - 1 - t] = s_values[kBlock - 1 - t];
      return;
    case BarrierKind::copies:
      libcuda::memcpy_async(&s_values[t], &g_in[t], sizeof(int), s_barrier);
      s_barrier.arrive_and_wait();
      break;
    case BarrierKind::group:
      libcuda::memcpy_async(block, s_values, g_in, libcuda::aligned_size_t<16>(sizeof(s_values)), s_barrier);
      s_barrier.arrive_and_wait();
      break;
    case BarrierKind::of_bulk: {
      BlockBarrier::arrival_token token;
      if (t == 0) {
        libcuda::device::memcpy_async_tx(s_values, g_in, libcuda::aligned_size_t<16>(sizeof(s_values)),
                                         s_barrier);
        token = libcuda::device::barrier_arrive_tx(s_barrier, 1, sizeof(s_values));
      } else {
        token = s_barrier.arrive();
      }
      s_barrier.wait(libcuda::std::move(token));
      break;
    }
    case BarrierKind::updates:
      s_values[t] = g_in[t];
      __syncwarp();
      if (t == 0) {
        static_cast<void>(s_barrier.arrive(kBlock / 2));
      }
      if (t == kBlock / 2) static_cast<void>(s_barrier.arrive());
      s_barrier.wait_parity(false);
      break;
  }
  g_out[kBlock - 1 - t] = s_values[kBlock - 1 - t];
}

__global__ void patience_kernel(Patience* g_out) {
  __shared__ BlockBarrier s_barrier;
  if (threadIdx.x == 0) init(&s_barrier, 2);
  __syncthreads();
  if (threadIdx.x == 0) {
    auto token = s_barrier.arrive();
    g_out->gave_up =
        s_barrier.try_wait_for(std::move(token), libcuda::std::chrono::microseconds(200)) ? 0 : 1;
  }
  __syncthreads();
  if (threadIdx.x == 1) {
    auto token = s_barrier.arrive();
    g_out->passed = s_barrier.try_wait_for(std::move(token), libcuda::std::chrono::seconds(1)) ? 1 : 0;
    g_out->parity_passed = s_barrier.try_wait_parity_for(false, libcuda::std::chrono::seconds(1)) ? 1 : 0;
  }
}

__global__ void device_barrier_kernel(std::uint64_t* g_barrier, int* g_values, int* g_sums) {
  using Barrier = libcuda::barrier<libcuda::thread_scope_device>;
  auto* barrier = reinterpret_cast<Barrier*>(g_barrier);
  if (threadIdx.x != 0) return;
  libcuda::atomic_ref<std::uint64_t, libcuda::thread_scope_device> started(g_barrier[8]);
  if (blockIdx.x == 0) {
    init(barrier, gridDim.x);
    started.store(1, libcuda::memory_order_release);
  } else {
    started.wait(0, libcuda::memory_order_acquire);
  }
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    g_values[blockIdx.x] = static_cast<int>(blockIdx.x) + 100 * round;
    barrier->arrive_and_wait();
    for (unsigned b = 0; b < gridDim.x; ++b) sum += g_values[b];
    barrier->arrive_and_wait();
  }
  g_sums[blockIdx.x] = sum;
}

constexpr int kStages = 3;
using SharedState = libcuda::pipeline_shared_state<libcuda::thread_scope_block, kStages>;

__global__ void thread_pipeline_kernel(PipelineKind kind, int tiles, const int* g_in, int* g_out) {
  __shared__ int s_tiles[kStages][kBlock];
  const int t = static_cast<int>(threadIdx.x);
  auto pipe = libcuda::make_pipeline();
  const auto fetch = [&](int tile) {
    pipe.producer_acquire();
    if (tile < tiles) {
      libcuda::memcpy_async(&s_tiles[tile % kStages][t], &g_in[tile * kBlock + t], sizeof(int), pipe);
    }
    pipe.producer_commit();
  };
  for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + kStages - 1);
    if (kind == PipelineKind::of_threads) {
      pipe.consumer_wait();
    } else {
      libcuda::pipeline_consumer_wait_prior<kStages - 1>(pipe);
    }
    sum += s_tiles[tile % kStages][t];
    pipe.consumer_release();
  }
  g_out[t] = sum;
}

__global__ void block_pipeline_kernel(PipelineKind kind, int tiles, const int* g_in, int* g_out) {
  __shared__ int s_tiles[kStages][kBlock];
  __shared__ SharedState s_state;
  const auto block = cg::this_thread_block();
  const int t = static_cast<int>(threadIdx.x);
  auto pipe = libcuda::make_pipeline(block, &s_state);
  int sum = 0;
  for (int tile = 0, fetched = 0; tile < tiles; ++tile) {
    for (; fetched < tiles && fetched < tile + kStages; ++fetched) {
      pipe.producer_acquire();
      int* s_tile = s_tiles[fetched % kStages];
      const int* g_tile = g_in + fetched * kBlock;
      if (kind == PipelineKind::of_block) {
        libcuda::memcpy_async(&s_tile[t], &g_tile[t], libcuda::aligned_size_t<4>(4), pipe);
      } else {
        libcuda::memcpy_async(block, s_tile, g_tile, kBlock * sizeof(int), pipe);
      }
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += s_tiles[tile % kStages][kBlock - 1 - t];
    pipe.consumer_release();
  }
  g_out[kBlock - 1 - t] = sum;
  if (pipe.quit()) atomicAdd(&g_out[kBlock], 1);
}

__global__ void roles_kernel(PipelineKind kind, int tiles, const int* g_in, int* g_out) {
  __shared__ int s_tiles[kStages][kBlock];
  __shared__ SharedState s_state;
  const auto block = cg::this_thread_block();
  const int t = static_cast<int>(threadIdx.x);
  const bool by_roles = kind == PipelineKind::by_roles;
  const bool produces = by_roles ? t / 32 % 2 == 1 : t < 32;
  auto pipe = by_roles ? libcuda::make_pipeline(
                             block, &s_state,
                             produces ? libcuda::pipeline_role::producer : libcuda::pipeline_role::consumer)
                       : libcuda::make_pipeline(block, &s_state, std::size_t{32});
  const int lane = t % 32;
  int sums[2] = {};
  for (int tile = 0; tile < tiles; ++tile) {
    int* s_tile = s_tiles[tile % kStages];
    if (produces) {
      pipe.producer_acquire();
      for (int i = lane; i < kBlock; i += 32) {
        libcuda::memcpy_async(&s_tile[i], &g_in[tile * kBlock + i], sizeof(int), pipe);
      }
      pipe.producer_commit();
    } else {
      while (!pipe.consumer_wait_for(libcuda::std::chrono::milliseconds(1))) {
      }
      sums[0] += s_tile[31 - lane];
      sums[1] += s_tile[kBlock - 1 - lane];
      pipe.consumer_release();
    }
  }
  if (produces) return;
  g_out[31 - lane] = sums[0];
  g_out[kBlock - 1 - lane] = sums[1];
}

__global__ void primitives_kernel(int tiles, const int* g_in, int* g_out) {
  __shared__ int s_tiles[kStages][kBlock];
  const int t = static_cast<int>(threadIdx.x);
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      __pipeline_memcpy_async(&s_tiles[tile % kStages][t], &g_in[tile * kBlock + t], sizeof(int));
    }
    __pipeline_commit();
  };
  for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    fetch(tile + kStages - 1);
    __pipeline_wait_prior(kStages - 1);
    sum += s_tiles[tile % kStages][t];
  }
  g_out[t] = sum;
}

__global__ void zero_fill_kernel(const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_values[4];
  for (int i = 0; i < 4; ++i) s_values[i] = -1;
  __pipeline_memcpy_async(s_values, g_in, 16, 8);
  for (int i = 0; i < 4; ++i) g_out[i] = s_values[i];
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < 4; ++i) g_out[4 + i] = s_values[i];
}

__global__ void library_misuse_kernel(LibraryMisuse misuse, const int* g_in) {
  __shared__ BlockBarrier s_barrier;
  __shared__ __align__(16) int s_values[8];
  switch (misuse) {
    case LibraryMisuse::barrier_without_init:
      *reinterpret_cast<std::uint64_t*>(&s_barrier) = 0;
      s_barrier.arrive_and_wait();
      break;
    case LibraryMisuse::too_many_arrivals:
      init(&s_barrier, 1);
      static_cast<void>(s_barrier.arrive(2));
      break;
    case LibraryMisuse::aligned_size:
      init(&s_barrier, 1);
      libcuda::memcpy_async(s_values, g_in, libcuda::aligned_size_t<16>(20), s_barrier);
      break;
    case LibraryMisuse::aligned_address:
      init(&s_barrier, 1);
      libcuda::memcpy_async(s_values + 1, g_in, libcuda::aligned_size_t<16>(16), s_barrier);
      break;
    case LibraryMisuse::width:
      __pipeline_memcpy_async(s_values, g_in, 12);
      break;
  }
}

}  // namespace

Status run_barrier(StreamRef stream, BarrierKind kind, const int* g_in, int* g_out) {
  return launch(barrier_kernel, {.block = kBlock, .stream = stream}, kind, g_in, g_out);
}
Status run_patience(StreamRef stream, Patience* g_out) {
  return launch(patience_kernel, {.block = 2, .stream = stream}, g_out);
}
Status run_device_barrier(StreamRef stream, unsigned blocks, std::uint64_t* g_barrier, int* g_values,
                          int* g_sums) {
  return launch(device_barrier_kernel, {.grid = blocks, .block = 32, .stream = stream, .cooperative = true},
                g_barrier, g_values, g_sums);
}
Status run_pipeline(StreamRef stream, PipelineKind kind, int tiles, const int* g_in, int* g_out) {
  const LaunchConfig config{.block = kBlock, .stream = stream};
  switch (kind) {
    case PipelineKind::of_threads:
    case PipelineKind::of_threads_prior:
      return launch(thread_pipeline_kernel, config, kind, tiles, g_in, g_out);
    case PipelineKind::of_block:
    case PipelineKind::of_block_by_group:
      return launch(block_pipeline_kernel, config, kind, tiles, g_in, g_out);
    case PipelineKind::first_warp_produces:
    case PipelineKind::by_roles:
      return launch(roles_kernel, config, kind, tiles, g_in, g_out);
    case PipelineKind::primitives:
      break;
  }
  return launch(primitives_kernel, config, tiles, g_in, g_out);
}
Status run_zero_fill(StreamRef stream, const int* g_in, int* g_out) {
  return launch(zero_fill_kernel, {.stream = stream}, g_in, g_out);
}
Status run_library_misuse(StreamRef stream, LibraryMisuse misuse, const int* g_in) {
  return launch(library_misuse_kernel, {.stream = stream}, misuse, g_in);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
