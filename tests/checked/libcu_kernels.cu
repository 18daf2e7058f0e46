// CUDA's C++ library and cooperative groups with one planted bug each; the comments BUG name the line that a
// report must give.
#include "rooftile/device/target.h"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "rooftile/device/launch.h"
#include "tests/checked/libcu_kernels.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

namespace cg = cooperative_groups;
// The library's namespace, which rooftile::cuda hides.
namespace libcuda = ::cuda;

#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr int kBlock = 64;
constexpr int kTiles = 8;
constexpr int kStages = 3;
using SharedState = libcuda::pipeline_shared_state<libcuda::thread_scope_block, kStages>;
using BlockBarrier = libcuda::barrier<libcuda::thread_scope_block>;

__global__ void pipeline_kernel(LibraryBug bug, const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_tiles[kStages][kBlock];
  __shared__ SharedState s_state;
  const auto block = cg::this_thread_block();
  const int t = static_cast<int>(threadIdx.x);
  auto pipe = libcuda::make_pipeline(block, &s_state);
  int sum = 0;
  for (int tile = 0, fetched = 0; tile < kTiles; ++tile) {
    for (; fetched < kTiles && fetched < tile + kStages; ++fetched) {
      if (bug != LibraryBug::acquire_left_out) pipe.producer_acquire();
      const int* g_tile = g_in + fetched * kBlock;
      constexpr libcuda::aligned_size_t<16> kBytes(kBlock * sizeof(int));
      libcuda::memcpy_async(block, s_tiles[fetched % kStages], g_tile, kBytes, pipe);  // BUG acquire_left_out
      pipe.producer_commit();
    }
    if (bug != LibraryBug::consumer_wait_left_out) pipe.consumer_wait();
    if (bug == LibraryBug::released_early) pipe.consumer_release();
    const int* s_tile = s_tiles[tile % kStages];
    const int other = kBlock - 1 - t;
    if (bug == LibraryBug::consumer_wait_left_out) {
      sum += s_tile[other];  // BUG consumer_wait_left_out
      pipe.consumer_wait();  // or the copies would land in a block that has returned
    } else {
      sum += s_tile[other];  // BUG released_early
    }
    if (bug != LibraryBug::released_early) pipe.consumer_release();
  }
  g_out[t] = sum;
}

__global__ void roles_kernel(LibraryBug, const int* g_in, int* g_out) {
  __shared__ int s_tiles[kStages][kBlock];
  __shared__ SharedState s_state;
  const auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < 32;
  const auto role = produces ? libcuda::pipeline_role::producer : libcuda::pipeline_role::consumer;
  auto pipe = libcuda::make_pipeline(block, &s_state, role);
  const int lane = static_cast<int>(threadIdx.x % 32);
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    int* s_tile = s_tiles[tile % kStages];
    if (produces) {
      pipe.producer_acquire();
      for (const int i : {lane, lane + 32}) {
        libcuda::memcpy_async(&s_tile[i], &g_in[tile * kBlock + i], sizeof(int), pipe);
      }
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum += s_tile[lane] + s_tile[kBlock - 1 - lane];
      pipe.consumer_release();
    }
  }
  if (!produces) g_out[lane] = sum;
}

__global__ void thread_pipeline_kernel(LibraryBug bug, const int* g_in, int* g_out) {
  __shared__ int s_tiles[kStages][kBlock];
  const int t = static_cast<int>(threadIdx.x);
  auto pipe = libcuda::make_pipeline();
  const auto fetch = [&](int tile) {
    pipe.producer_acquire();
    if (tile < kTiles) {
      libcuda::memcpy_async(&s_tiles[tile % kStages][t], &g_in[tile * kBlock + t], sizeof(int), pipe);
    }
    pipe.producer_commit();
  };
  for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    fetch(tile + kStages - 1);
    if (bug != LibraryBug::thread_wait_left_out) pipe.consumer_wait();
    sum += s_tiles[tile % kStages][t];  // BUG thread_wait_left_out
    pipe.consumer_release();
  }
  g_out[t] = sum;
}

__global__ void primitives_kernel(LibraryBug bug, const int* g_in, int* g_out) {
  __shared__ int s_values[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  __pipeline_memcpy_async(&s_values[t], &g_in[t], sizeof(int));
  __pipeline_commit();
  if (bug != LibraryBug::primitives_not_waited) __pipeline_wait_prior(0);
  g_out[t] = s_values[t];  // BUG primitives_not_waited
}

__global__ void barrier_kernel(LibraryBug bug, const int* g_in, int* g_out) {
  __shared__ BlockBarrier s_barrier;
  __shared__ int s_values[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) init(&s_barrier, kBlock);
  __syncthreads();  // the barrier is initialised
  if (bug == LibraryBug::none_barrier || bug == LibraryBug::barrier_not_waited) {
    s_values[t] = g_in[t];
    auto token = s_barrier.arrive();
    if (bug == LibraryBug::none_barrier) s_barrier.wait(libcuda::std::move(token));
    g_out[t] = s_values[kBlock - 1 - t];  // BUG barrier_not_waited
    return;
  }
  libcuda::memcpy_async(&s_values[t], &g_in[t], sizeof(int), s_barrier);
  auto token = s_barrier.arrive();
  if (bug == LibraryBug::none_barrier_copy) s_barrier.wait(libcuda::std::move(token));
  g_out[t] = s_values[kBlock - 1 - t];  // BUG barrier_copy_not_waited
  if (bug == LibraryBug::barrier_copy_not_waited) s_barrier.wait(libcuda::std::move(token));
}

__global__ void group_copy_kernel(LibraryBug bug, const int* g_in, int* g_out) {
  __shared__ __align__(16) int s_values[kBlock];
  const auto block = cg::this_thread_block();
  const int t = static_cast<int>(threadIdx.x);
  cg::memcpy_async(block, s_values, g_in, sizeof(s_values));
  if (bug == LibraryBug::none_group_copy) cg::wait(block);
  g_out[t] = s_values[t];  // BUG group_copy_not_waited
}

// Thread 0 hands a value to thread 32.
__global__ void atomic_kernel(LibraryBug bug, const int* g_in, int* g_out) {
  __shared__ int s_value;
  __shared__ libcuda::atomic<int, libcuda::thread_scope_block> s_flag;
  const bool fences = bug == LibraryBug::none_atomic_fences || bug == LibraryBug::atomic_fence_left_out;
  const bool relaxed = fences || bug == LibraryBug::atomic_relaxed;
  const auto release = relaxed ? libcuda::memory_order_relaxed : libcuda::memory_order_release;
  const auto acquire = relaxed ? libcuda::memory_order_relaxed : libcuda::memory_order_acquire;
  if (threadIdx.x == 0) s_flag.store(0, libcuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) {
    s_value = g_in[0];
    if (bug == LibraryBug::none_atomic_fences) {
      libcuda::atomic_thread_fence(libcuda::memory_order_release, libcuda::thread_scope_block);
    }
    s_flag.store(1, release);
  } else if (threadIdx.x == 32) {
    while (s_flag.load(acquire) == 0) {
    }
    if (fences) libcuda::atomic_thread_fence(libcuda::memory_order_acquire, libcuda::thread_scope_block);
    g_out[0] = s_value;  // BUG atomic_handover
  }
}

// Thread 0 of each group hands a value to the others of it.
__global__ void group_sync_kernel(LibraryBug bug, const int* g_in, int* g_out) {
  __shared__ int s_values[kBlock];
  const int t = static_cast<int>(threadIdx.x);
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto group = cg::labeled_partition(warp, t % 2);
  s_values[t] = g_in[t];
  group.sync();
  const int next =
      static_cast<int>(group.shfl(t, static_cast<int>((group.thread_rank() + 1) % group.size())));
  if (bug == LibraryBug::none_group_sync) {
    g_out[t] = s_values[next];
  } else {
    g_out[t] = s_values[t ^ 1];  // BUG group_of_too_few
  }
}

__global__ void plain_kernel(LibraryBug, const int* g_in, int* g_out) {
  libcuda::atomic_ref<int, libcuda::thread_scope_device> first(g_out[0]);
  if (threadIdx.x == 0) g_out[0] = g_in[0];  // BUG plain_beside_atomic
  if (threadIdx.x == 40) first.fetch_add(1, libcuda::memory_order_relaxed);
}

__global__ void device_barrier_kernel(bool waits, std::uint64_t* g_barrier, int* g_values, int* g_out) {
  using Barrier = libcuda::barrier<libcuda::thread_scope_device>;
  auto* barrier = reinterpret_cast<Barrier*>(g_barrier);
  libcuda::atomic_ref<std::uint64_t, libcuda::thread_scope_device> started(g_barrier[1]);
  if (blockIdx.x == 0) {
    init(barrier, 2);
    started.store(1, libcuda::memory_order_release);
  } else {
    while (started.load(libcuda::memory_order_acquire) == 0) {
    }
  }
  g_values[blockIdx.x] = 7;
  auto token = barrier->arrive();
  if (waits) barrier->wait(libcuda::std::move(token));
  g_out[blockIdx.x] = g_values[1 - blockIdx.x];  // BUG device_barrier_not_waited
}

}  // namespace

Status run_library_bug(StreamRef stream, LibraryBug bug, const int* g_in, int* g_out) {
  const auto run = [&](auto* kernel) {
    return launch(kernel, {.grid = dim3(1), .block = dim3(kBlock), .stream = stream}, bug, g_in, g_out);
  };
  if (bug <= LibraryBug::acquire_left_out) return run(pipeline_kernel);
  if (bug == LibraryBug::none_roles) return run(roles_kernel);
  if (bug <= LibraryBug::thread_wait_left_out) return run(thread_pipeline_kernel);
  if (bug <= LibraryBug::primitives_not_waited) return run(primitives_kernel);
  if (bug <= LibraryBug::barrier_copy_not_waited) return run(barrier_kernel);
  if (bug <= LibraryBug::group_copy_not_waited) return run(group_copy_kernel);
  if (bug <= LibraryBug::atomic_fence_left_out) return run(atomic_kernel);
  if (bug <= LibraryBug::group_of_too_few) return run(group_sync_kernel);
  return run(plain_kernel);
}

Status run_device_barrier(StreamRef stream, bool waits, std::uint64_t* g_barrier, int* g_values, int* g_out) {
  return launch(device_barrier_kernel,
                {.grid = dim3(2), .block = dim3(1), .stream = stream, .cooperative = true}, waits, g_barrier,
                g_values, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
