#include "rooftile/device/target.h"

#include "rooftile/device/cooperative_groups.h"
#include "rooftile/device/launch.h"
#include "tests/sim/kernels.h"

namespace rooftile::ROOFTILE_TARGET::sim_tests {
namespace {

namespace cg = cooperative_groups;

constexpr unsigned kFull = 0xffffffffu;

__device__ __forceinline__ bool takes_part(unsigned mask) { return (mask >> threadIdx.x & 1u) != 0; }

template <class T>
__global__ void shuffle_kernel(Shuffle kind, unsigned mask, unsigned exited, int operand, int width,
                               const T* g_in, T* g_out) {
  if (takes_part(exited) || !takes_part(mask)) return;
  const T value = g_in[threadIdx.x];
  T result = value;
  switch (kind) {
    case Shuffle::index:
      result = __shfl_sync(mask, value, operand, width);
      break;
    case Shuffle::up:
      result = __shfl_up_sync(mask, value, static_cast<unsigned>(operand), width);
      break;
    case Shuffle::down:
      result = __shfl_down_sync(mask, value, static_cast<unsigned>(operand), width);
      break;
    case Shuffle::exchange:
      result = __shfl_xor_sync(mask, value, operand, width);
      break;
  }
  g_out[threadIdx.x] = result;
}

__global__ void shuffle_half_kernel(unsigned mask, int lane_mask, const std::uint16_t* g_in,
                                    std::uint16_t* g_out) {
  if (!takes_part(mask)) return;
  const __half value = __ushort_as_half(g_in[threadIdx.x]);
  const __half2 pair = __halves2half2(value, __hneg(value));
  const __half first = __shfl_xor_sync(mask, value, lane_mask);
  const __half2 second = __shfl_xor_sync(mask, pair, lane_mask);
  const __nv_bfloat16 third = __shfl_xor_sync(mask, __ushort_as_bfloat16(g_in[threadIdx.x]), lane_mask);
  g_out[threadIdx.x] = __half_as_ushort(first);
  g_out[32 + threadIdx.x] = __half_as_ushort(__high2half(second));
  g_out[64 + threadIdx.x] = __bfloat16_as_ushort(third);
}

__global__ void votes_kernel(unsigned mask, unsigned exited, const int* g_predicate, Votes* g_out) {
  if (takes_part(exited) || !takes_part(mask)) return;
  const int predicate = g_predicate[threadIdx.x];
  Votes votes;
  votes.ballot = __ballot_sync(mask, predicate);
  votes.any = __any_sync(mask, predicate);
  votes.all = __all_sync(mask, predicate);
  g_out[threadIdx.x] = votes;
}

template <class T>
__global__ void matches_kernel(unsigned mask, const T* g_in, Matches* g_out) {
  if (!takes_part(mask)) return;
  Matches matches;
  matches.any = __match_any_sync(mask, g_in[threadIdx.x]);
  matches.all = __match_all_sync(mask, g_in[threadIdx.x], &matches.all_predicate);
  g_out[threadIdx.x] = matches;
}

__global__ void reductions_kernel(unsigned mask, const unsigned* g_in, Reductions* g_out) {
  if (!takes_part(mask)) return;
  const unsigned value = g_in[threadIdx.x];
  const int signed_value = static_cast<int>(value);
  Reductions r;
  r.add = __reduce_add_sync(mask, value);
  r.min = __reduce_min_sync(mask, value);
  r.max = __reduce_max_sync(mask, value);
  r.all_bits = __reduce_and_sync(mask, value);
  r.any_bit = __reduce_or_sync(mask, value);
  r.odd_bits = __reduce_xor_sync(mask, value);
  r.signed_add = __reduce_add_sync(mask, signed_value);
  r.signed_min = __reduce_min_sync(mask, signed_value);
  r.signed_max = __reduce_max_sync(mask, signed_value);
  g_out[threadIdx.x] = r;
}

__global__ void split_warp_kernel(int* g_out) {
  const bool low = threadIdx.x < 16;
  const unsigned mask = low ? 0x0000ffffu : 0xffff0000u;
  int sum = static_cast<int>(threadIdx.x);
  for (int round = 0; round < (low ? 3 : 5); ++round) sum = __shfl_xor_sync(mask, sum, 1, 16) + 1;
  __syncwarp();
  g_out[threadIdx.x] = __shfl_sync(kFull, sum, (static_cast<int>(threadIdx.x) + 16) % 32);
}

__global__ void block_barriers_kernel(unsigned exited_threads, const int* g_predicate, int* g_out) {
  __shared__ int s_values[1024];
  const unsigned t = threadIdx.x;
  if (t < exited_threads) return;
  const int predicate = g_predicate[t];
  const int count = __syncthreads_count(predicate);
  const int all = __syncthreads_and(predicate);
  const int any = __syncthreads_or(predicate);
  s_values[t] = static_cast<int>(t) + 1;
  __syncthreads();  // all values are there
  int sum = 0;
  for (unsigned i = exited_threads; i < blockDim.x; ++i) sum += s_values[i];
  g_out[4 * t] = count;
  g_out[4 * t + 1] = all;
  g_out[4 * t + 2] = any;
  g_out[4 * t + 3] = sum;
}

__global__ void tiles_kernel(int* g_out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int rank = static_cast<int>(block.thread_rank());
  const int total = cg::reduce(tile, rank, cg::plus<int>());
  const int first = tile.shfl(rank, 0);
  const int highest = cg::reduce(tile, rank, cg::greater<int>());
  const unsigned odd = tile.ballot(rank & 1);
  tile.sync();
  block.sync();
  int* g_mine = g_out + 8 * rank;
  g_mine[0] = total;
  g_mine[1] = first;
  g_mine[2] = highest;
  g_mine[3] = static_cast<int>(odd);
  g_mine[4] = static_cast<int>(tile.thread_rank());
  g_mine[5] = static_cast<int>(tile.meta_group_rank());
  g_mine[6] = static_cast<int>(block.size());
  g_mine[7] = tile.shfl_down(rank, 3u) + 1000 * tile.shfl_up(rank, 2u) + 1000000 * tile.any(rank == 9);
}

__global__ void tickets_kernel(unsigned* g_counter, unsigned* g_first, unsigned* g_second) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  g_first[i] = atomicAdd(g_counter, 1u);
  __syncwarp();
  g_second[i] = atomicAdd(g_counter, 1u);
}

}  // namespace

template <class T>
Status run_shuffle(StreamRef stream, Shuffle kind, unsigned mask, unsigned exited, int operand, int width,
                   const T* g_in, T* g_out) {
  return launch(shuffle_kernel<T>, {.block = dim3(32), .stream = stream}, kind, mask, exited, operand, width,
                g_in, g_out);
}
template Status run_shuffle(StreamRef, Shuffle, unsigned, unsigned, int, int, const int*, int*);
template Status run_shuffle(StreamRef, Shuffle, unsigned, unsigned, int, int, const unsigned*, unsigned*);
template Status run_shuffle(StreamRef, Shuffle, unsigned, unsigned, int, int, const long long*, long long*);
template Status run_shuffle(StreamRef, Shuffle, unsigned, unsigned, int, int, const unsigned long long*,
                            unsigned long long*);
template Status run_shuffle(StreamRef, Shuffle, unsigned, unsigned, int, int, const float*, float*);
template Status run_shuffle(StreamRef, Shuffle, unsigned, unsigned, int, int, const double*, double*);

Status run_shuffle_half(StreamRef stream, unsigned mask, int lane_mask, const std::uint16_t* g_in,
                        std::uint16_t* g_out) {
  return launch(shuffle_half_kernel, {.block = dim3(32), .stream = stream}, mask, lane_mask, g_in, g_out);
}

Status run_votes(StreamRef stream, unsigned mask, unsigned exited, const int* g_predicate, Votes* g_out) {
  return launch(votes_kernel, {.block = dim3(32), .stream = stream}, mask, exited, g_predicate, g_out);
}

template <class T>
Status run_matches(StreamRef stream, unsigned mask, const T* g_in, Matches* g_out) {
  return launch(matches_kernel<T>, {.block = dim3(32), .stream = stream}, mask, g_in, g_out);
}
template Status run_matches(StreamRef, unsigned, const int*, Matches*);
template Status run_matches(StreamRef, unsigned, const unsigned long long*, Matches*);
template Status run_matches(StreamRef, unsigned, const float*, Matches*);
template Status run_matches(StreamRef, unsigned, const double*, Matches*);

Status run_reductions(StreamRef stream, unsigned mask, const unsigned* g_in, Reductions* g_out) {
  return launch(reductions_kernel, {.block = dim3(32), .stream = stream}, mask, g_in, g_out);
}

Status run_split_warp(StreamRef stream, int* g_out) {
  return launch(split_warp_kernel, {.block = dim3(32), .stream = stream}, g_out);
}

Status run_block_barriers(StreamRef stream, unsigned threads, unsigned exited_threads, const int* g_predicate,
                          int* g_out) {
  return launch(block_barriers_kernel, {.block = dim3(threads), .stream = stream}, exited_threads,
                g_predicate, g_out);
}

Status run_tiles(StreamRef stream, unsigned block_x, unsigned block_y, int* g_out) {
  return launch(tiles_kernel, {.block = dim3(block_x, block_y), .stream = stream}, g_out);
}

Status run_tickets(StreamRef stream, unsigned blocks, unsigned threads, unsigned* g_counter,
                   unsigned* g_first, unsigned* g_second) {
  return launch(tickets_kernel, {.grid = dim3(blocks), .block = dim3(threads), .stream = stream}, g_counter,
                g_first, g_second);
}

}  // namespace rooftile::ROOFTILE_TARGET::sim_tests
