// wgmma with one planted bug each; the comments BUG name the line that a report must give. What is EQUIVALENT may be left
// out where there is no bug: two groups become one, or what is waited for is waited for elsewhere.
#include "tests/checked/wgmma_kernels.h"

#include "rooftile/device/launch.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/fence.h"
#include "rooftile/device/sm90a/matrix_descriptor.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/device/sm90a/setmaxnreg.h"
#include "rooftile/device/sm90a/wgmma.h"

namespace rooftile::ROOFTILE_TARGET::checked_tests {
namespace {

constexpr int kThreads = 128;
constexpr int kHalves = 64 * 64;
constexpr std::uint32_t kTileBytes = kHalves * 2;
constexpr int kSums = 32;

__device__ __forceinline__ MatrixDescriptor<MatrixMajor::k> operand(const void* s_tile ROOFTILE_AND_CALLER) {
  return k_major_descriptor(s_tile, TileSwizzle::bytes128 ROOFTILE_AND_HERE);
}

// Both operands are one tile, written by all threads.
__global__ void written_kernel(WgmmaBug bug, const unsigned short* g_in, float* g_out) {
  ROOFTILE_DYN_SHARED(unsigned short, s_tile);
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < kHalves; i += kThreads) {
    if (bug != WgmmaBug::uninitialised_operand || i != 70) s_tile[i] = g_in[i];  // BUG written
  }
  const bool behind = bug == WgmmaBug::proxy_fence_behind_barrier;
  if (bug != WgmmaBug::no_proxy_fence && !behind) fence_proxy_async<FenceSpace::shared_block>();
  if (bug != WgmmaBug::no_barrier) __syncthreads();  // the tile is complete
  if (behind) fence_proxy_async<FenceSpace::shared_block>();
  if (bug == WgmmaBug::warp_does_not_come && t >= 96) return;
  const auto tile = operand(s_tile);
  float sums[kSums];
  for (float& sum : sums) sum = 1;
  if (bug != WgmmaBug::no_fence_at_all) wgmma_fence(sums);
  if (bug == WgmmaBug::sum_written_without_fence) sums[5] = 2;  // BUG sum_written_without_fence
  wgmma<__half>(sums, tile, tile, true);                        // BUG first
  if (bug == WgmmaBug::not_committed) {
    wgmma_wait<0>(sums);
    g_out[t] = sums[0];  // BUG not_committed
    wgmma_fence(sums);
  }
  wgmma_commit();  // EQUIVALENT
  wgmma<__half>(sums, tile.advanced(32), tile.advanced(32), true);
  wgmma_commit();
  if (bug == WgmmaBug::sum_read_early) {
    g_out[t] = sums[3];  // BUG sum_read_early
  }
  if (bug == WgmmaBug::sum_written_early) {
    sums[4] = 0;  // BUG sum_written_early
  }
  if (bug == WgmmaBug::operand_overwritten) {
    s_tile[t] = 0;  // BUG operand_overwritten
  }
  if (bug == WgmmaBug::newest_operand_overwritten || bug == WgmmaBug::none_first_overwritten) {
    wgmma_wait<1>();
    // Of the second product, or of the first.
    if (t == 0)
      s_tile[bug == WgmmaBug::newest_operand_overwritten ? 16 : 0] = 0;  // BUG newest_operand_overwritten
  }
  if (bug == WgmmaBug::not_waited_for) return;
  if (bug == WgmmaBug::sum_read_of_newest_group) {
    wgmma_wait<1>(sums);
    g_out[t] = sums[3];  // BUG sum_read_of_newest_group
  }
  wgmma_wait<0>(sums);  // BUG wait
  for (int i = 1; i < kSums; ++i) sums[0] += sums[i];
  g_out[t] = sums[0];
  if (t < 64) s_tile[t] = 0;  // every warp has waited for its own products, and so for those of all
}

// a from registers, twice.
__global__ void fragments_kernel(WgmmaBug bug, const unsigned short* g_in, float* g_out) {
  ROOFTILE_DYN_SHARED(unsigned short, s_tile);
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < kHalves; i += kThreads) s_tile[i] = g_in[i];
  fence_proxy_async<FenceSpace::shared_block>();
  __syncthreads();  // the tile is complete
  const auto tile = operand(s_tile);
  std::uint32_t a[4];
  float sums[kSums];
  for (std::uint32_t& pair : a) pair = g_in[t] * 0x10001u;
  wgmma_fence(sums);
  wgmma<__half>(sums, a, tile, false);
  wgmma_commit();
  if (bug == WgmmaBug::fragment_overwritten) {
    a[2] = 0;  // BUG fragment_overwritten
  }
  wgmma_wait<0>(sums);
  for (std::uint32_t& pair : a) pair += 1;
  if (bug != WgmmaBug::fragment_without_fence) wgmma_fence(a);
  wgmma<__half>(sums, a, tile, true);  // BUG fragment_without_fence
  wgmma_commit();
  wgmma_wait<0>(sums);
  for (int i = 0; i < kSums; ++i) g_out[t] = sums[i];
}

// A ring of two stages, filled by bulk copies; the fifth warp loads.
__global__ void ring_kernel(WgmmaBug bug, const unsigned short* g_in, float* g_out) {
  ROOFTILE_DYN_SHARED(unsigned short, s_stages);
  __shared__ Mbarrier s_full[2];
  __shared__ Mbarrier s_empty[2];
  constexpr int kTiles = 5;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      mbarrier_init(&s_full[s], 1);
      mbarrier_init(&s_empty[s], 1);
    }
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are there
  if (t >= kThreads) {
    for (int tile = 0; t == kThreads && tile < kTiles; ++tile) {
      const int s = tile % 2;
      if (tile >= 2) mbarrier_wait(&s_empty[s], static_cast<std::uint32_t>(tile / 2 - 1) % 2);
      mbarrier_arrive_expect_tx(&s_full[s], kTileBytes);
      bulk_load(s_stages + s * kHalves, g_in, kTileBytes, &s_full[s]);  // BUG stage_released_early
    }
    // All loads have landed before the thread returns.
    for (int tile = kTiles - 2; t == kThreads && tile < kTiles; ++tile)
      mbarrier_wait(&s_full[tile % 2], static_cast<std::uint32_t>(tile / 2) % 2);  // EQUIVALENT
    return;
  }
  float sums[kSums];
  wgmma_tie(sums);
  for (int tile = 0; tile < kTiles; ++tile) {
    const int s = tile % 2;
    std::uint32_t parity = static_cast<std::uint32_t>(tile / 2) % 2;
    if (bug == WgmmaBug::stage_of_wrong_phase && tile == 2) parity ^= 1;
    if (bug != WgmmaBug::stage_not_waited_for || tile != 3) mbarrier_wait(&s_full[s], parity);
    const auto stage = operand(s_stages + s * kHalves);
    wgmma_fence();
    wgmma<__half>(sums, stage, stage, tile > 0);  // BUG stage
    wgmma_commit();
    const bool early = bug == WgmmaBug::stage_released_early;
    wgmma_wait<1>();  // the product of the tile before has ended
    if (t == 0 && (tile > 0 || early)) mbarrier_arrive(&s_empty[early ? s : (tile - 1) % 2]);
  }
  wgmma_wait<0>(sums);
  g_out[t] = sums[0];
}

// One thread loads over the operand.
__global__ void copy_kernel(const unsigned short* g_in, float* g_out) {
  ROOFTILE_DYN_SHARED(unsigned short, s_tile);
  __shared__ Mbarrier s_full;
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    mbarrier_init(&s_full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();  // the barrier is there
  const auto load = [&](ROOFTILE_CALLER) {
    mbarrier_arrive_expect_tx(&s_full, kTileBytes ROOFTILE_AND_HERE);
    bulk_load(s_tile, g_in, kTileBytes, &s_full ROOFTILE_AND_HERE);
  };
  if (t == 0) load();
  mbarrier_wait(&s_full, 0);
  const auto tile = operand(s_tile);
  float sums[kSums];
  wgmma_fence(sums);
  wgmma<__half>(sums, tile, tile, false);
  wgmma_commit();
  if (t == 0) load();  // BUG operand_overwritten_by_copy
  wgmma_wait<0>(sums);
  mbarrier_wait(&s_full, 1);
  g_out[t] = sums[0];
}

__global__ void __launch_bounds__(kThreads, 1) registers_kernel(WgmmaBug bug, float* g_out) {
  if (bug == WgmmaBug::none_registers || threadIdx.x < 96) {
    setmaxnreg_dec<24>();  // BUG registers_of_three_warps
  }
  g_out[threadIdx.x] = 1;
}

template <int kColumns, MatrixMajor kMajor>
__global__ void reads_kernel(int swizzle, bool a_in_registers, float* g_out) {
  ROOFTILE_DYN_SHARED(std::uint32_t, s_words);
  constexpr std::uint32_t kMost = 64 * 1024;
  const int t = static_cast<int>(threadIdx.x);
  for (int i = t; i < static_cast<int>(kMost / 4); i += kThreads) s_words[i] = 0;
  fence_proxy_async<FenceSpace::shared_block>();
  __syncthreads();  // zeros
  const auto span = static_cast<std::uint32_t>(swizzle);
  const auto b = make_matrix_descriptor<kMajor>(s_words + 16 * 1024 / 4, static_cast<TileSwizzle>(swizzle),
                                                span == 0 ? 128 : 16 * span, span == 0 ? 256 : 8 * span);
  const auto a = operand(s_words);
  const std::uint32_t r[4] = {};
  float sums[kColumns / 2];
  wgmma_fence(sums);
  if (a_in_registers) {
    wgmma<__half>(sums, r, b, false);  // the product
  } else {
    wgmma<__half>(sums, a, b, false);  // the product
  }
  wgmma_commit();
  wgmma_wait<0>(sums);
  g_out[t] = sums[0];
}

}  // namespace

Status run_wgmma_bug(StreamRef stream, WgmmaBug bug, const unsigned short* g_in, float* g_out) {
  const auto run = [&](auto* kernel, unsigned threads, std::uint32_t tiles) {
    return launch(kernel, {.block = threads, .shared_bytes = tiles * kTileBytes, .stream = stream}, bug, g_in,
                  g_out);
  };
  switch (bug) {
    case WgmmaBug::none_fragments:
    case WgmmaBug::fragment_without_fence:
    case WgmmaBug::fragment_overwritten:
      return run(fragments_kernel, kThreads, 1);
    case WgmmaBug::none_ring:
    case WgmmaBug::stage_not_waited_for:
    case WgmmaBug::stage_of_wrong_phase:
    case WgmmaBug::stage_released_early:
      return run(ring_kernel, kThreads + 32, 2);
    case WgmmaBug::operand_overwritten_by_copy:
      return launch(copy_kernel, {.block = kThreads, .shared_bytes = kTileBytes, .stream = stream}, g_in,
                    g_out);
    case WgmmaBug::none_registers:
    case WgmmaBug::registers_of_three_warps:
      return launch(registers_kernel, {.block = kThreads, .stream = stream}, bug, g_out);
    default:
      return run(written_kernel, kThreads, 1);
  }
}

Status run_wgmma_reads(StreamRef stream, int columns, int swizzle, bool mn_major, bool a_in_registers,
                       float* g_out) {
  const auto run = [&](auto* kernel) {
    return launch(kernel, {.block = kThreads, .shared_bytes = 64 * 1024, .stream = stream}, swizzle,
                  a_in_registers, g_out);
  };
  if (columns == 64) {
    return mn_major ? run(reads_kernel<64, MatrixMajor::mn>) : run(reads_kernel<64, MatrixMajor::k>);
  }
  return mn_major ? run(reads_kernel<256, MatrixMajor::mn>) : run(reads_kernel<256, MatrixMajor::k>);
}

}  // namespace rooftile::ROOFTILE_TARGET::checked_tests
