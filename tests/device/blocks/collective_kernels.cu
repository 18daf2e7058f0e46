#include "tests/device/blocks/collective_kernels.h"

#include "rooftile/device/block.h"
#include "rooftile/device/launch.h"
#include "rooftile/device/warp.h"

namespace rooftile::ROOFTILE_TARGET::block_tests {
namespace {

template <class T>
__global__ void warp_kernel(WarpCall call, int lanes, const T* g_in, T* g_out) {
  const int lane = static_cast<int>(threadIdx.x);
  T value = g_in[lane];
  const Combine combine;
  switch (call) {
    case WarpCall::shuffle_reverse:
      value = shuffle(value, lanes - 1 - lane, lanes);
      break;
    case WarpCall::shuffle_xor_1:
      value = shuffle_xor(value, 1, lanes);
      break;
    case WarpCall::shuffle_up_3:
      value = shuffle_up(value, 3, lanes);
      break;
    case WarpCall::shuffle_down_3: {
      const T other = shuffle_down(value, 3, lanes);
      value = lane + 3 < lanes ? other : g_out[lane];
      break;
    }
    case WarpCall::reduce_full:
      value = warp_reduce(value, combine);
      break;
    case WarpCall::reduce:
      value = warp_reduce(value, combine, lanes);
      break;
    case WarpCall::inclusive_scan:
      value = warp_inclusive_scan(value, combine, lanes);
      break;
    case WarpCall::exclusive_scan:
      value = warp_exclusive_scan(value, identity_of<T>(), combine, lanes);
      break;
    case WarpCall::broadcast_last:
      value = warp_broadcast(value, lanes - 1, lanes);
      break;
  }
  g_out[lane] = value;
}

template <class T, int kThreads>
__global__ void block_kernel(BlockCall call, const T* g_in, T* g_out, T* g_totals) {
  __shared__ T s_warp_values[kWarpsOf<kThreads>];
  const int thread = static_cast<int>(threadIdx.x);
  const Combine combine;
  T value{};
  T total{};
  for (int round = 0; round < 2; ++round) {
    const T mine = g_in[(thread + round) % kThreads];
    if (round > 0) __syncthreads();  // the first round's slots have been read
    Scanned<T> scanned{};
    switch (call) {
      case BlockCall::reduce:
        value = block_reduce<kThreads>(mine, identity_of<T>(), s_warp_values, combine);
        break;
      case BlockCall::all_reduce:
        value = block_all_reduce<kThreads>(mine, identity_of<T>(), s_warp_values, combine);
        break;
      case BlockCall::inclusive_scan:
        scanned = block_inclusive_scan<kThreads>(mine, s_warp_values, combine);
        value = scanned.value;
        total = scanned.total;
        break;
      case BlockCall::exclusive_scan:
        scanned = block_exclusive_scan<kThreads>(mine, identity_of<T>(), s_warp_values, combine);
        value = scanned.value;
        total = scanned.total;
        break;
      case BlockCall::broadcast_last:
        value = block_broadcast(mine, kThreads - 1, s_warp_values[0]);
        break;
    }
  }
  g_out[thread] = value;
  g_totals[thread] = total;
}

template <class T, int kThreads>
Status run_block_of(StreamRef stream, BlockCall call, const T* g_in, T* g_out, T* g_totals) {
  return launch(block_kernel<T, kThreads>, {.block = kThreads, .stream = stream}, call, g_in, g_out,
                g_totals);
}

__global__ void divergent_reduce_kernel(const std::uint32_t* g_in, std::uint32_t* g_out) {
  __shared__ std::uint32_t s_warp_values[2];
  std::uint32_t value = g_in[threadIdx.x];
  if (warp_index() == 0) {
    value = block_reduce<64>(value, 0u, s_warp_values, Combine{});  // here ...
  } else {
    value = block_reduce<64>(value, 1u, s_warp_values, Combine{});  // ... or there
  }
  g_out[threadIdx.x] = value;
}

}  // namespace

Status run_divergent_reduce(StreamRef stream, const std::uint32_t* g_in, std::uint32_t* g_out) {
  return launch(divergent_reduce_kernel, {.block = 64, .stream = stream}, g_in, g_out);
}

template <class T>
Status run_warp(StreamRef stream, WarpCall call, int lanes, const T* g_in, T* g_out) {
  return launch(warp_kernel<T>, {.block = static_cast<unsigned>(lanes), .stream = stream}, call, lanes, g_in,
                g_out);
}

template <class T>
Status run_block(StreamRef stream, BlockCall call, int threads, const T* g_in, T* g_out, T* g_totals) {
  switch (threads) {
    case 1:
      return run_block_of<T, 1>(stream, call, g_in, g_out, g_totals);
    case 20:
      return run_block_of<T, 20>(stream, call, g_in, g_out, g_totals);
    case 32:
      return run_block_of<T, 32>(stream, call, g_in, g_out, g_totals);
    case 33:
      return run_block_of<T, 33>(stream, call, g_in, g_out, g_totals);
    case 256:
      return run_block_of<T, 256>(stream, call, g_in, g_out, g_totals);
    case 1000:
      return run_block_of<T, 1000>(stream, call, g_in, g_out, g_totals);
    case 1024:
      return run_block_of<T, 1024>(stream, call, g_in, g_out, g_totals);
    default:
      return invalid_argument("not a compiled block size");
  }
}

#define ROOFTILE_TEST_INSTANTIATE(T)                                   \
  template Status run_warp<T>(StreamRef, WarpCall, int, const T*, T*); \
  template Status run_block<T>(StreamRef, BlockCall, int, const T*, T*, T*);
ROOFTILE_TEST_FOR_TYPES(ROOFTILE_TEST_INSTANTIATE)

}  // namespace rooftile::ROOFTILE_TARGET::block_tests
