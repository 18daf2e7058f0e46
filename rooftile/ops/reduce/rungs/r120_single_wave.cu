// Small inputs pay for the code.
//
// Idea       at most one block per SM, each with its whole share in flight at once; straight-line code; one
//            warp finishes the block, and the last of these warps the grid.
// Change     no loop over tiles and no head in front of a 16-byte boundary: the instructions of a cold kernel
//            come from DRAM, 128 bytes at a time, and no other work hides that. 1024 threads in place of 512
//            ask for the same bytes by half the blocks: fewer tickets, fewer partial results.
// Limits     all elements of a contiguous, 16-byte aligned tensor of at most 128 KiB per SM (64 KiB for
//            comparisons).
// Bottleneck latency: launch, one round trip to DRAM, one ticket, one read of the partial results.
#include "rooftile/device/block.h"
#include "rooftile/device/last_block.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kWaveBlock;

// The vectors of this thread: every kBlock-th of the block's tile. A full tile has nothing to ask: constant
// offsets from one address, and the compiler starts all loads before it waits for the first. (Behind
// predicates or clamped indices it did not: 10.8 us in place of 10.2 for 16 MiB.)
template <int kLoads, class Reduction>
__device__ __forceinline__ typename Reduction::Acc tile_partial(const Reduction& reduction,
                                                                const typename Reduction::In* g_tile,
                                                                int count, std::int64_t index) {
  using In = typename Reduction::In;
  constexpr int kElements = kVecElements<In>;
  const auto thread = static_cast<int>(threadIdx.x);
  const In* g_mine = g_tile + thread * kElements;
  auto acc = reduction.identity();
  Vec<In, kElements> r_vectors[kLoads];
  if (count >= kBlock * kLoads) [[likely]] {
#pragma unroll
    for (int v = 0; v < kLoads; ++v) {
      r_vectors[v] = load_vec<LoadPolicy::no_allocate>(g_mine + v * kBlock * kElements);
    }
#pragma unroll
    for (int v = 0; v < kLoads; ++v) {
      acc = take_vec(reduction, acc, r_vectors[v], index + (thread + v * kBlock) * kElements);
    }
    return acc;
  }
#pragma unroll
  for (int v = 0; v < kLoads; ++v) {
    if (thread + v * kBlock < count) {
      r_vectors[v] = load_vec<LoadPolicy::no_allocate>(g_mine + v * kBlock * kElements);
    }
  }
#pragma unroll
  for (int v = 0; v < kLoads; ++v) {
    const int i = thread + v * kBlock;
    if (i < count) acc = take_vec(reduction, acc, r_vectors[v], index + i * kElements);
  }
  return acc;
}

// Block b takes tile b. g_partials: an accumulator per block; g_ticket: a zeroed counter, zero again at the
// end. Neither is touched by a grid of one block.
template <int kLoads, class Reduction>
__global__ void __launch_bounds__(kBlock)
    single_wave_kernel(const typename Reduction::In* __restrict__ g_in, int n,
                       typename Reduction::Acc* g_partials, std::uint32_t* g_ticket, Reduction reduction,
                       ReduceOutput out) {
  using In = typename Reduction::In;
  using Acc = typename Reduction::Acc;
  constexpr int kElements = kVecElements<In>;
  __shared__ Acc s_warp_values[kBlock / kWarpSize];
  const auto thread = static_cast<int>(threadIdx.x);
  const auto block = static_cast<int>(blockIdx.x);
  const auto combine = [&](Acc a, Acc b) { return reduction.combine(a, b); };

  const int vectors = static_cast<int>(static_cast<unsigned>(n) / kElements);
  const int first = block * (kBlock * kLoads);
  Acc acc = tile_partial<kLoads>(reduction, g_in + std::int64_t{first} * kElements, vectors - first,
                                 std::int64_t{first} * kElements);
  const int tail = vectors * kElements + thread;  // less than a vector: block 0 takes it
  if (block == 0 && tail < n) acc = reduction.take(acc, g_in[tail], tail);

  acc = block_reduce<kBlock>(acc, reduction.identity(), s_warp_values, combine);
  if (thread >= kWarpSize) return;
  if (gridDim.x > 1) {
    if (thread == 0) g_partials[block] = acc;
    if (!is_last_warp(g_ticket, gridDim.x)) return;
    constexpr int kPartials = reduce_plan::kWaveBlocks / kWarpSize;  // per lane, their loads independent
    Acc r_partials[kPartials];
#pragma unroll
    for (int k = 0; k < kPartials; ++k) {
      const int i = k * kWarpSize + thread;
      r_partials[k] = i < static_cast<int>(gridDim.x) ? g_partials[i] : reduction.identity();
    }
    acc = r_partials[0];
#pragma unroll
    for (int k = 1; k < kPartials; ++k) acc = combine(acc, r_partials[k]);
    acc = warp_reduce(acc, combine);
  }
  if (thread == 0) reduction.store(out, 0, acc);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_reduction(call.args, [&]<class Reduction>(const Reduction& reduction) {
    using In = typename Reduction::In;
    const std::int64_t n = call.args.in.numel();
    const auto& cut = call.config<reduce_plan::Cut>();
    const auto start = [&](auto kernel) {
      return launch(
          kernel,
          {.grid = dim3(static_cast<unsigned>(cut.blocks)), .block = dim3(kBlock), .stream = call.stream},
          static_cast<const In*>(call.args.in.data), static_cast<int>(n),
          static_cast<typename Reduction::Acc*>(call.workspace.data),
          static_cast<std::uint32_t*>(call.workspace.zeroed), reduction, make_output(call.args, n));
    };
    constexpr ReduceOp kKind = std::is_same_v<Reduction, Sum<In>> ? ReduceOp::sum : ReduceOp::max;
    constexpr int kMost = reduce_plan::wave_loads(kKind, sizeof(In));
    if constexpr (kMost >= 8) {
      if (cut.loads == 8) return start(single_wave_kernel<8, Reduction>);
      if (cut.loads == 6) return start(single_wave_kernel<6, Reduction>);
    }
    if constexpr (kMost >= 4) {
      if (cut.loads == 4) return start(single_wave_kernel<4, Reduction>);
    }
    return start(single_wave_kernel<2, Reduction>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
