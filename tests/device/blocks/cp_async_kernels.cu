#include "tests/device/blocks/cp_async_kernels.h"

#include "rooftile/device/block.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/sm80/cp_async.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

template <int kBytes, CopyCache kCache, int kPrefetch>
__global__ void cp_async_kernel(int source_bytes, const unsigned char* g_in, unsigned char* g_out) {
  __shared__ __align__(16) unsigned char s_data[kCopyThreads * kBytes];
  const int first = static_cast<int>(threadIdx.x) * kBytes;
  for (int i = first; i < first + kBytes; ++i) s_data[i] = 0xcd;
  if (source_bytes == kBytes) {
    cp_async<kBytes, kCache, kPrefetch>(s_data + first, g_in + first);
  } else {
    cp_async_or_zero<kBytes, kCache, kPrefetch>(s_data + first, g_in + first, source_bytes);
  }
  cp_async_wait_all();
  __syncthreads();  // every thread's piece has arrived
  const int last = kCopyThreads * kBytes - 1;
  for (int i = first; i < first + kBytes; ++i) g_out[last - i] = s_data[last - i];
}

constexpr int kSumThreads = 64;
constexpr int kStages = 3;
constexpr int kTileFloats = kSumThreads * 4;

// Stage s of tile t is s = t % kStages. Two tiles are under way while one is summed.
__global__ void pipelined_sum_kernel(int n, const float* g_in, float* g_out) {
  __shared__ __align__(16) float s_tiles[kStages][kTileFloats];
  __shared__ float s_warp_values[kWarpsOf<kSumThreads>];
  const int thread = static_cast<int>(threadIdx.x);
  const float* g_row = g_in + std::int64_t{blockIdx.x} * n;
  const int tiles = (n + kTileFloats - 1) / kTileFloats;
  const auto fetch = [&](int tile) {
    if (tile < tiles) {
      const int at = tile * kTileFloats + thread * 4;
      const int left = (n - at) * 4;
      const int source_bytes = left >= 16 ? 16 : left > 0 ? left : 0;
      cp_async_or_zero<16>(&s_tiles[tile % kStages][thread * 4], g_row + (source_bytes > 0 ? at : 0),
                           source_bytes);
    }
    cp_async_commit();  // an empty group behind the last tile keeps the count
  };
  for (int tile = 0; tile < kStages - 1; ++tile) fetch(tile);
  float sum = 0.0f;
  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait<kStages - 2>();
    __syncthreads();  // the tile has arrived for all; all have read the one that fetch() overwrites
    fetch(tile + kStages - 1);
    for (int i = 0; i < 4; ++i) sum += s_tiles[tile % kStages][(thread + i * kSumThreads) % kTileFloats];
  }
  sum = block_reduce<kSumThreads>(sum, 0.0f, s_warp_values, [](float a, float b) { return a + b; });
  if (thread == 0) g_out[blockIdx.x] = sum;
}

__global__ void partial_waits_kernel(bool read_early, const std::uint32_t* g_in, std::uint32_t* g_out) {
  __shared__ std::uint32_t s_words[3][kWarpSize];
  const int lane = lane_index();
  for (auto& stage : s_words) stage[lane] = 7;
  for (int stage = 0; stage < 3; ++stage) {
    cp_async<4>(&s_words[stage][lane], g_in + stage * kWarpSize + lane);
    cp_async_commit();
  }
  const auto note = [&](int kept) {
    for (int stage = 0; stage < (read_early ? 3 : 3 - kept); ++stage)
      g_out[(kept * 3 + stage) * kWarpSize + lane] = s_words[stage][lane];
  };
  note(3);
  cp_async_wait<2>();
  note(2);
  cp_async_wait<1>();
  note(1);
  cp_async_wait<0>();
  note(0);
}

template <int kBytes>
__global__ void misaligned_kernel(int target_offset, int source_offset, const unsigned char* g_in) {
  __shared__ __align__(16) unsigned char s_data[64];
  cp_async<kBytes>(s_data + target_offset, g_in + source_offset);
  cp_async_wait_all();
}

}  // namespace

Status run_cp_async(StreamRef stream, CopyVariant variant, int source_bytes, const unsigned char* g_in,
                    unsigned char* g_out) {
  const LaunchConfig config{.block = kCopyThreads, .stream = stream};
  constexpr auto kL1 = CopyCache::l1_and_l2;
  constexpr auto kL2 = CopyCache::l2;
  switch (variant) {
    case CopyVariant::ca4:
      return launch(cp_async_kernel<4, kL1, 0>, config, source_bytes, g_in, g_out);
    case CopyVariant::ca8:
      return launch(cp_async_kernel<8, kL1, 0>, config, source_bytes, g_in, g_out);
    case CopyVariant::ca16:
      return launch(cp_async_kernel<16, kL1, 0>, config, source_bytes, g_in, g_out);
    case CopyVariant::cg16:
      return launch(cp_async_kernel<16, kL2, 0>, config, source_bytes, g_in, g_out);
    case CopyVariant::ca4_l2_64:
      return launch(cp_async_kernel<4, kL1, 64>, config, source_bytes, g_in, g_out);
    case CopyVariant::ca16_l2_128:
      return launch(cp_async_kernel<16, kL1, 128>, config, source_bytes, g_in, g_out);
    case CopyVariant::cg16_l2_256:
      return launch(cp_async_kernel<16, kL2, 256>, config, source_bytes, g_in, g_out);
  }
  return invalid_argument("not a variant");
}

Status run_pipelined_sum(StreamRef stream, int blocks, int n, const float* g_in, float* g_out) {
  return launch(pipelined_sum_kernel,
                {.grid = static_cast<unsigned>(blocks), .block = kSumThreads, .stream = stream}, n, g_in,
                g_out);
}

Status run_partial_waits(StreamRef stream, bool read_early, const std::uint32_t* g_in, std::uint32_t* g_out) {
  return launch(partial_waits_kernel, {.block = kWarpSize, .stream = stream}, read_early, g_in, g_out);
}

Status run_misaligned_cp_async(StreamRef stream, int bytes, int target_offset, int source_offset,
                               const unsigned char* g_in) {
  const LaunchConfig config{.stream = stream};
  switch (bytes) {
    case 4:
      return launch(misaligned_kernel<4>, config, target_offset, source_offset, g_in);
    case 8:
      return launch(misaligned_kernel<8>, config, target_offset, source_offset, g_in);
    default:
      return launch(misaligned_kernel<16>, config, target_offset, source_offset, g_in);
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
