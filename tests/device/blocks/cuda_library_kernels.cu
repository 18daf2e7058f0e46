#include "tests/device/blocks/cuda_library_kernels.h"

#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <utility>

#include "rooftile/device/block.h"
#include "rooftile/device/cooperative_groups.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/poll.h"
#include "rooftile/device/sm80/cp_async.h"

// The library's namespace, which rooftile::cuda hides.
namespace libcuda = ::cuda;

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

namespace cg = cooperative_groups;

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

constexpr int kStages = 3;
constexpr int kTileFloats = kLibraryThreads * 4;

template <bool kLibrary>
__global__ void pipeline_kernel(int n, const float* g_in, float* g_out) {
  __shared__ __align__(16) float s_tiles[kStages][kTileFloats];
  __shared__ float s_warp_values[kWarpsOf<kLibraryThreads>];
  const int thread = static_cast<int>(threadIdx.x);
  const float* g_row = g_in + std::int64_t{blockIdx.x} * n;
  const int tiles = (n + kTileFloats - 1) / kTileFloats;
  auto pipe = libcuda::make_pipeline();
  const auto fetch = [&](int tile) {
    const int at = tile * kTileFloats + thread * 4;
    float* s_target = &s_tiles[tile % kStages][thread * 4];
    if constexpr (kLibrary) {
      pipe.producer_acquire();
      if (at < n) libcuda::memcpy_async(s_target, g_row + at, libcuda::aligned_size_t<16>(16), pipe);
      pipe.producer_commit();
    } else {
      if (at < n) cp_async<16>(s_target, g_row + at);
      cp_async_commit();
    }
  };
  for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    if constexpr (kLibrary) {
      libcuda::pipeline_consumer_wait_prior<kStages - 2>(pipe);
    } else {
      cp_async_wait<kStages - 2>();
    }
    __syncthreads();  // the tile has arrived for all; all have read the one that fetch() overwrites
    fetch(tile + kStages - 1);
    for (int i = thread; i < kTileFloats; i += kLibraryThreads) {
      if (tile * kTileFloats + i < n) sum += s_tiles[tile % kStages][i];
    }
    if constexpr (kLibrary) pipe.consumer_release();
  }
  sum = block_reduce<kLibraryThreads>(sum, 0.0f, s_warp_values, Plus{});
  if (thread == 0) g_out[blockIdx.x] = sum;
}

template <bool kLibrary>
__global__ void handover_kernel(int rounds, std::uint32_t* g_out) {
  __shared__ std::uint32_t s_data;
  __shared__ std::uint32_t s_full;
  __shared__ std::uint32_t s_empty;
  if (threadIdx.x == 0) s_full = s_empty = 0;
  __syncthreads();  // the flags are zero
  const auto set = [](std::uint32_t& flag, std::uint32_t value) {
    if constexpr (kLibrary) {
      libcuda::atomic_ref<std::uint32_t, libcuda::thread_scope_block>(flag).store(
          value, libcuda::std::memory_order_release);
    } else {
      st_release<Scope::cta>(&flag, value);
    }
  };
  const auto await = [](std::uint32_t& flag, std::uint32_t value) {
    if constexpr (kLibrary) {
      const libcuda::atomic_ref<std::uint32_t, libcuda::thread_scope_block> reference(flag);
      while (reference.load(libcuda::std::memory_order_acquire) != value) __nanosleep(20);
    } else {
      wait_until<Scope::cta>(&flag, [=](std::uint32_t now) { return now == value; });
    }
  };
  for (std::uint32_t round = 0; round < static_cast<std::uint32_t>(rounds); ++round) {
    if (threadIdx.x == 0) {
      await(s_empty, round);
      s_data = round * round;
      set(s_full, round + 1);
    } else if (threadIdx.x == 32) {
      await(s_full, round + 1);
      g_out[round] = s_data;
      set(s_empty, round + 1);
    }
  }
}

template <bool kLibrary>
__global__ void barrier_kernel(std::uint32_t* g_out) {
  using Barrier = libcuda::barrier<libcuda::thread_scope_block>;
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ Barrier s_barrier;
  __shared__ std::uint32_t s_squares[kLibraryThreads];
  const unsigned thread = threadIdx.x;
  if constexpr (kLibrary) {
    if (thread == 0) init(&s_barrier, kLibraryThreads);
    __syncthreads();  // the barrier is ready
  }
  s_squares[thread] = thread * thread;
  if constexpr (kLibrary) {
    auto token = s_barrier.arrive();
    s_barrier.wait(std::move(token));
  } else {
    __syncthreads();
  }
  g_out[thread] = s_squares[(thread + 1) % kLibraryThreads];
}

__global__ void scans_kernel(const std::uint32_t* g_in, std::uint32_t* g_out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const unsigned thread = threadIdx.x;
  const std::uint32_t x = g_in[thread];
  const auto put = [&](int row, std::uint32_t value) { g_out[row * kLibraryThreads + thread] = value; };
  put(0, cg::inclusive_scan(warp, x, cg::plus<std::uint32_t>()));
  put(1, warp_inclusive_scan(x, Plus{}));
  put(2, cg::exclusive_scan(warp, x, cg::plus<std::uint32_t>()));
  put(3, warp_exclusive_scan(x, 0u, Plus{}));
  const bool odd = x % 2 == 1;
  std::uint32_t rank = 0;
  if (odd) rank = cg::coalesced_threads().thread_rank();
  put(4, rank);
  const std::uint32_t before = warp_exclusive_scan(odd ? 1u : 0u, 0u, Plus{});
  put(5, odd ? before : 0u);
}

}  // namespace

Status run_library_pipeline(StreamRef stream, bool library, int blocks, int n, const float* g_in,
                            float* g_out) {
  const LaunchConfig config{
      .grid = static_cast<unsigned>(blocks), .block = kLibraryThreads, .stream = stream};
  return library ? launch(pipeline_kernel<true>, config, n, g_in, g_out)
                 : launch(pipeline_kernel<false>, config, n, g_in, g_out);
}

Status run_library_handover(StreamRef stream, bool library, int rounds, std::uint32_t* g_out) {
  const LaunchConfig config{.block = kLibraryThreads, .stream = stream};
  return library ? launch(handover_kernel<true>, config, rounds, g_out)
                 : launch(handover_kernel<false>, config, rounds, g_out);
}

Status run_library_barrier(StreamRef stream, bool library, std::uint32_t* g_out) {
  const LaunchConfig config{.block = kLibraryThreads, .stream = stream};
  return library ? launch(barrier_kernel<true>, config, g_out) : launch(barrier_kernel<false>, config, g_out);
}

Status run_library_scans(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out) {
  return launch(scans_kernel, {.block = kLibraryThreads, .stream = stream}, g_in, g_out);
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
