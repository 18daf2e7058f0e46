// Bytes in flight, and a fixed order.
//
// Idea       16-byte loads, several of each vector on their way before the first product; one partial sum per block, and
//            the warp that comes last adds them up in the order of the blocks.
// Change     no atomic touches a sum: every run gives the same bits. Vectors of b that lie across two of a's alignment
//            are put together from both in registers.
// Limits     vectors without gaps.
// Bottleneck DRAM.
// Source     CUDA sample threadFenceReduction.
#include "rooftile/device/grid_reduce.h"
#include "rooftile/ops/dot/rungs/vector_body.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

constexpr int kBlock = dot_plan::kPassBlock;

// Block b takes tiles b, b + grid, ... of kBlock * loads vectors; block 0 head and tail.
template <class In, class Acc, bool kStraddling>
__device__ __forceinline__ Acc thread_sum(const In* g_a, const In* g_b, std::int64_t n, int loads) {
  constexpr int kInFlight = dot_plan::kVectorsInFlight;
  using Vector = Vec<In, kVecElements<In>>;
  const auto thread = static_cast<std::int64_t>(threadIdx.x);
  const auto body = Body<In, kStraddling>::of(g_a, g_b, n);

  Acc sums[kInFlight] = {};  // a chain for each vector in flight
  const std::int64_t tile_vectors = std::int64_t{kBlock} * loads;
  std::int64_t tile = blockIdx.x * tile_vectors;
  for (; loads == kInFlight && tile + tile_vectors <= body.vectors; tile += gridDim.x * tile_vectors) {
    Vector r_a[kInFlight];
    Vector r_b[kInFlight];
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) {
      r_a[v] = body.a.load(tile + v * kBlock + thread);
      r_b[v] = body.b.load(tile + v * kBlock + thread);
    }
#pragma unroll
    for (int v = 0; v < kInFlight; ++v) sums[v] += product_of<Acc>(r_a[v], r_b[v]);
  }
  if (tile < body.vectors) {  // a small or partial tile: at most one per block
    constexpr int kStep =
        2;  // not unrolled further: a small input pays for every line of code that is fetched cold
#pragma unroll 1
    for (int first = 0; first < loads; first += kStep) {
      Vector r_a[kStep];
      Vector r_b[kStep];
      bool here[kStep];
#pragma unroll
      for (int v = 0; v < kStep; ++v) {
        const std::int64_t i = tile + (first + v) * kBlock + thread;
        here[v] = first + v < loads && i < body.vectors;
        if (!here[v]) continue;
        r_a[v] = body.a.load(i);
        r_b[v] = body.b.load(i);
      }
#pragma unroll
      for (int v = 0; v < kStep; ++v) {
        if (here[v]) sums[v] += product_of<Acc>(r_a[v], r_b[v]);
      }
    }
  }
  if (blockIdx.x == 0) add_head_and_tail<kBlock>(body, g_a, g_b, n, sums[0], sums[1]);
#pragma unroll
  for (int width = kInFlight / 2; width > 0; width /= 2) {
#pragma unroll
    for (int v = 0; v < width; ++v) sums[v] += sums[v + width];
  }
  return sums[0];
}

template <class In, class Acc, bool kStraddling>
__global__ void __launch_bounds__(kBlock, dot_plan::kPassBlocks)
    single_pass_kernel(const In* __restrict__ g_a, const In* __restrict__ g_b, std::int64_t n, int loads,
                       Acc* g_partials, std::uint32_t* g_ticket, RealOutput out) {
  __shared__ Acc s_warp_values[kBlock / kWarpSize];
  Acc sum = thread_sum<In, Acc, kStraddling>(g_a, g_b, n, loads);
  if (grid_reduce<kBlock>(sum, Acc{}, s_warp_values, g_partials, g_ticket, Add{})) out.store(0, sum);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  const DotArgs& args = call.args;
  const auto& cut = call.config<dot_plan::Cut>();
  return dispatch_products(args, [&]<class In, class Acc>() {
    const auto start = [&](auto kernel) {
      return launch(
          kernel,
          {.grid = dim3(static_cast<unsigned>(cut.blocks)), .block = dim3(kBlock), .stream = call.stream},
          static_cast<const In*>(args.a.data), static_cast<const In*>(args.b.data), args.a.numel(),
          static_cast<int>(cut.loads), static_cast<Acc*>(call.workspace.data),
          static_cast<std::uint32_t*>(call.workspace.zeroed), output_of(args));
    };
    return straddles(args) ? start(single_pass_kernel<In, Acc, true>)
                           : start(single_pass_kernel<In, Acc, false>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
