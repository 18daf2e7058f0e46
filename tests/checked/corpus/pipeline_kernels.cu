// Tiles that asynchronous copies bring while others are worked on.
#include "rooftile/device/target.h"

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/pipeline>

#include "tests/checked/corpus/run_kernel.h"

namespace rooftile::ROOFTILE_TARGET::corpus {
namespace {

namespace cg = cooperative_groups;
namespace libcuda = ::cuda;  // rooftile::cuda hides it

#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr unsigned kGrid = 4;
constexpr unsigned kTile = 128;  // as many threads
constexpr unsigned kTiles = kElements / kGrid / kTile;

void reversed_tiles(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = in[i - i % kTile + kTile - 1 - i % kTile];
}

// A pipeline of the block.
__global__ void pipeline_tiles_kernel(const float* g_in, float* g_out) {
  constexpr unsigned kStages = 2;
  __shared__ __align__(16) float s_tiles[kStages][kTile];
  __shared__ libcuda::pipeline_shared_state<libcuda::thread_scope_block, kStages> s_state;
  const auto block = cg::this_thread_block();
  auto pipe = libcuda::make_pipeline(block, &s_state);
  const unsigned first = blockIdx.x * kTiles * kTile;
  const unsigned t = block.thread_rank();
  for (unsigned tile = 0, fetched = 0; tile < kTiles; ++tile) {
    for (; fetched < kTiles && fetched < tile + kStages; ++fetched) {
      pipe.producer_acquire();
      libcuda::memcpy_async(block, s_tiles[fetched % kStages], g_in + first + fetched * kTile,
                            libcuda::aligned_size_t<16>(kTile * sizeof(float)), pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    g_out[first + tile * kTile + t] = s_tiles[tile % kStages][kTile - 1 - t];
    pipe.consumer_release();
  }
}

// A pipeline of each thread: what it fetched is there behind its wait, what others did behind the barrier.
__global__ void thread_pipeline_tiles_kernel(const float* g_in, float* g_out) {
  __shared__ float s_tiles[2][kTile];
  auto pipe = libcuda::make_pipeline();
  const unsigned first = blockIdx.x * kTiles * kTile;
  const unsigned t = threadIdx.x;
  const auto fetch = [&](unsigned tile) {
    pipe.producer_acquire();
    libcuda::memcpy_async(&s_tiles[tile % 2][t], &g_in[first + tile * kTile + t], sizeof(float), pipe);
    pipe.producer_commit();
  };
  fetch(0);
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) {
      fetch(tile + 1);
      libcuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      libcuda::pipeline_consumer_wait_prior<0>(pipe);
    }
    __syncthreads();
    g_out[first + tile * kTile + t] = s_tiles[tile % 2][kTile - 1 - t];
    pipe.consumer_release();
    __syncthreads();
  }
}

// By the primitives, four stages, one barrier a tile: the stage that is filled again was read before it.
enum class Refill { behind_barrier, before_barrier, too_early };

template <Refill kRefill>
__global__ void staged_tiles_kernel(const float* g_in, float* g_out) {
  constexpr unsigned kStages = 4;
  __shared__ __align__(16) float s_tiles[kStages][kTile];
  const float* g_tiles = g_in + blockIdx.x * kTiles * kTile;
  float* g_results = g_out + blockIdx.x * kTiles * kTile;
  const unsigned t = threadIdx.x;
  constexpr unsigned kAhead = kRefill == Refill::too_early ? kStages : kStages - 1;
  for (unsigned tile = 0; tile < kAhead; ++tile) {
    if (t < kTile / 4) __pipeline_memcpy_async(&s_tiles[tile][4 * t], &g_tiles[tile * kTile + 4 * t], 16);
    __pipeline_commit();
  }
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    const unsigned next = tile + kAhead;
    const auto refill = [&] {
      if (t < kTile / 4 && next < kTiles) {
        float* s_at = &s_tiles[next % kStages][4 * t];
        const float* g_at = &g_tiles[next * kTile + 4 * t];
        if constexpr (kRefill == Refill::before_barrier) {
          __pipeline_memcpy_async(s_at, g_at, 16);  // BUG refilled_before_barrier
        } else {
          __pipeline_memcpy_async(s_at, g_at, 16);  // BUG refilled_while_read
        }
      }
      __pipeline_commit();
    };
    if constexpr (kRefill == Refill::before_barrier) refill();
    __pipeline_wait_prior(kRefill == Refill::before_barrier ? kAhead : kAhead - 1);
    __syncthreads();
    if constexpr (kRefill != Refill::before_barrier) refill();
    g_results[tile * kTile + t] = s_tiles[tile % kStages][kTile - 1 - t];
  }
}

// A chunk per block; the wrong offset counts the elements before it in bytes.
template <bool kInBytes>
__global__ void chunk_copy_kernel(const float* g_in, float* g_out) {
  constexpr unsigned kChunk = 256;
  __shared__ __align__(16) float s_chunk[kChunk];
  const unsigned t = threadIdx.x;
  const unsigned before = blockIdx.x * kChunk * (kInBytes ? sizeof(float) : 1);
  if (t < kChunk / 4) {
    __pipeline_memcpy_async(&s_chunk[4 * t], &g_in[before + 4 * t], 16);  // BUG chunk_at_wrong_offset
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (unsigned i = t; i < kChunk; i += blockDim.x) g_out[blockIdx.x * kChunk + i] = s_chunk[kChunk - 1 - i];
}

void reversed_chunks(const float* in, float* out) {
  for (unsigned i = 0; i < kElements; ++i) out[i] = in[i - i % 256 + 255 - i % 256];
}

const Kernel kKernels[] = {
    {"pipeline_tiles", run<kGrid, kTile, pipeline_tiles_kernel>, reversed_tiles},
    {"thread_pipeline_tiles", run<kGrid, kTile, thread_pipeline_tiles_kernel>, reversed_tiles},
    {"staged_tiles", run<kGrid, kTile, staged_tiles_kernel<Refill::behind_barrier>>, reversed_tiles},
    {"refilled_before_barrier", run<kGrid, kTile, staged_tiles_kernel<Refill::before_barrier>>, nullptr,
     "race"},
    {"refilled_while_read", run<kGrid, kTile, staged_tiles_kernel<Refill::too_early>>, nullptr, "race"},
    {"chunk_copy", run<16, kTile, chunk_copy_kernel<false>>, reversed_chunks},
    {"chunk_at_wrong_offset", run<16, kTile, chunk_copy_kernel<true>>, nullptr, "out_of_bounds"},
};

}  // namespace

std::span<const Kernel> pipeline_kernels() { return kKernels; }

}  // namespace rooftile::ROOFTILE_TARGET::corpus
