// Bytes in flight, and a fixed order.
//
// Idea       16-byte loads, several of each vector on their way before the first product; one partial sum per block, and
//            the warp that comes last adds them up in the order of the blocks.
// Change     no atomic touches a sum: every run gives the same bits. Vectors of b that lie across two of a's alignment
//            are put together from both in registers.
// Limits     vectors without gaps.
// Bottleneck DRAM.
// Source     CUDA sample threadFenceReduction.
#include "rooftile/device/align.h"
#include "rooftile/device/grid_reduce.h"
#include "rooftile/ops/dot/rungs/dot_device.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

constexpr int kBlock = dot_plan::kPassBlock;

template <class In>
struct AlignedVectors {
  const In* g_first;
  __device__ __forceinline__ Vec<In, kVecElements<In>> load(std::int64_t i) const {
    return load_vec<LoadPolicy::no_allocate>(g_first + i * kVecElements<In>);
  }
};

// The body of both vectors: the vectors from a's first line on. Head and tail are what is in front of it and behind.
template <class In, bool kStraddling>
struct Body {
  std::int64_t head;
  std::int64_t vectors;
  AlignedVectors<In> a;
  std::conditional_t<kStraddling, StraddlingVectors<In>, AlignedVectors<In>> b;

  // Where b's vectors straddle, one of a's more in the head and one more in the tail: the bytes that are read beside b's
  // vectors are its own then.
  __device__ __forceinline__ static Body of(const In* g_a, const In* g_b, std::int64_t n) {
    constexpr int kElements = kVecElements<In>;
    std::int64_t head = elements_to_line(g_a, n) + (kStraddling ? kElements : 0);
    if (head > n) head = n;
    std::int64_t vectors = (n - head) / kElements;
    if (kStraddling && vectors > 0) --vectors;
    return {head, vectors, {g_a + head}, decltype(b){g_b + head}};
  }
};

// Block b takes tiles b, b + grid, ... of kBlock * loads vectors; block 0 head and tail.
template <class In, class Acc, bool kStraddling>
__device__ __forceinline__ Acc thread_sum(const In* g_a, const In* g_b, std::int64_t n, int loads) {
  constexpr int kElements = kVecElements<In>;
  constexpr int kInFlight = dot_plan::kVectorsInFlight;
  using Vector = Vec<In, kElements>;
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
  if (blockIdx.x == 0) {
    static_assert(kLineBytes / sizeof(In) + kElements <= kBlock, "a thread takes one of the head at most");
    const std::int64_t tail = body.head + body.vectors * kElements + thread;
    if (thread < body.head) sums[0] = add_product(sums[0], g_a[thread], g_b[thread]);
    if (tail < n) sums[1] = add_product(sums[1], g_a[tail], g_b[tail]);
  }
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
  const auto apart =
      reinterpret_cast<std::uintptr_t>(args.a.data) - reinterpret_cast<std::uintptr_t>(args.b.data);
  return dispatch_products(args, [&]<class In, class Acc>() {
    const auto start = [&](auto kernel) {
      return launch(
          kernel,
          {.grid = dim3(static_cast<unsigned>(cut.blocks)), .block = dim3(kBlock), .stream = call.stream},
          static_cast<const In*>(args.a.data), static_cast<const In*>(args.b.data), args.a.numel(),
          static_cast<int>(cut.loads), static_cast<Acc*>(call.workspace.data),
          static_cast<std::uint32_t*>(call.workspace.zeroed), output_of(args));
    };
    return apart % kVecBytes == 0 ? start(single_pass_kernel<In, Acc, false>)
                                  : start(single_pass_kernel<In, Acc, true>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
