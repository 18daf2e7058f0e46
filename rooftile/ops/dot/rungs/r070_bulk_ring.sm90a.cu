// The copy engine keeps the bytes in flight.
//
// Idea       one thread asks for 16 KiB of each input at a time by bulk copies into a ring of shared memory; the others
//            wait at a barrier until their bytes are there.
// Change     192 KiB per SM on the way at every moment, where a thread's loads (single_pass) drain before the next are
//            issued: conversions and products no longer stand between two loads.
// Limits     sm_90a; vectors without gaps. Small inputs pay for filling the ring.
// Bottleneck DRAM.
// Source     PTX ISA, cp.async.bulk and mbarrier; the ring is reduce's.
#include "rooftile/device/grid_reduce.h"
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/ops/dot/rungs/vector_body.h"

namespace rooftile::ROOFTILE_TARGET::dot_rungs {
namespace {

constexpr int kBlock = dot_plan::kPassBlock;
constexpr int kWarps = kBlock / kWarpSize;
constexpr int kStages = dot_plan::kRingStages;
constexpr int kStageVectors = dot_plan::kRingStageBytes / kVecBytes;  // of each input
constexpr int kVectors = kStageVectors / kBlock;                      // of each thread and input per stage
static_assert(kStageVectors % kBlock == 0, "every thread takes as many vectors of a full stage");

// b's part has one vector more: where its vectors straddle, the last one's second half.
struct Stage {
  uint4 a[kStageVectors];
  uint4 b[kStageVectors + 1];
};

template <class In>
__device__ __forceinline__ Vec<In, kVecElements<In>> as_vector(const uint4& raw) {
  Vec<In, kVecElements<In>> vec;
  memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
  return vec;
}

// Block b takes stages b, b + grid, ... of the body's vectors; block 0 head and tail, too. Dynamic shared memory: the ring.
template <class In, class Acc, bool kStraddling>
__global__ void __launch_bounds__(kBlock, dot_plan::kPassBlocks)
    bulk_ring_kernel(const In* __restrict__ g_a, const In* __restrict__ g_b, std::int64_t n, Acc* g_partials,
                     std::uint32_t* g_ticket, RealOutput out) {
  ROOFTILE_DYN_SHARED(Stage, s_ring);
  __shared__ Mbarrier s_full[kStages];   // both copies have landed
  __shared__ Mbarrier s_empty[kStages];  // every warp has read them
  __shared__ Acc s_warp_values[kWarps];
  const auto thread = static_cast<int>(threadIdx.x);
  const auto body = Body<In, kStraddling>::of(g_a, g_b, n);
  const auto* g_b_first = reinterpret_cast<const char*>(g_b + body.head);
  const unsigned shift =
      kStraddling ? static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(g_b_first) % kVecBytes) : 0u;
  const auto* g_a_vectors = reinterpret_cast<const uint4*>(g_a + body.head);
  const auto* g_b_vectors = reinterpret_cast<const uint4*>(g_b_first - shift);
  if (thread == 0) {
    for (int s = 0; s < kStages; ++s) {
      mbarrier_init(&s_full[s], 1);
      mbarrier_init(&s_empty[s], kWarps);
    }
    fence_mbarrier_init();
  }
  __syncthreads();  // the barriers are ready

  const std::int64_t step = std::int64_t{gridDim.x} * kStageVectors;
  const auto fill = [&](int stage, std::int64_t at) {  // by one thread
    const std::int64_t left = body.vectors - at;
    const auto bytes_a =
        static_cast<std::uint32_t>((left < kStageVectors ? left : std::int64_t{kStageVectors}) * kVecBytes);
    const std::uint32_t bytes_b = bytes_a + (kStraddling ? kVecBytes : 0);
    mbarrier_arrive_expect_tx(&s_full[stage], bytes_a + bytes_b);
    bulk_load(s_ring[stage].a, g_a_vectors + at, bytes_a, &s_full[stage]);
    bulk_load(s_ring[stage].b, g_b_vectors + at, bytes_b, &s_full[stage]);
  };
  const std::int64_t first = std::int64_t{blockIdx.x} * kStageVectors;
  std::int64_t next = first;  // thread 0's: the stage to ask for
  if (thread == 0) {
    for (int s = 0; s < kStages && next < body.vectors; ++s, next += step) fill(s, next);
  }

  Acc sums[kVectors] = {};
  int stage = 0;
  std::uint32_t parity = 0;
  for (std::int64_t at = first; at < body.vectors; at += step) {
    mbarrier_wait(&s_full[stage], parity);
    const Stage& s_stage = s_ring[stage];
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
      const int i = thread + v * kBlock;
      if (at + i >= body.vectors) break;
      const uint4 b = kStraddling ? straddling_bytes(s_stage.b[i], s_stage.b[i + 1], shift) : s_stage.b[i];
      sums[v] += product_of<Acc>(as_vector<In>(s_stage.a[i]), as_vector<In>(b));
    }
    __syncwarp();  // all lanes have read before lane 0 says so
    if (thread % kWarpSize == 0) mbarrier_arrive(&s_empty[stage]);
    if (thread == 0 && next < body.vectors) {
      mbarrier_wait(&s_empty[stage], parity);
      fill(stage, next);
      next += step;
    }
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1u;
    }
  }
  static_assert(kVectors >= 2, "a sum for the head, one for the tail");
  if (blockIdx.x == 0) add_head_and_tail<kBlock>(body, g_a, g_b, n, sums[0], sums[1]);
#pragma unroll
  for (int v = 1; v < kVectors; ++v) sums[0] += sums[v];
  if (grid_reduce<kBlock>(sums[0], Acc{}, s_warp_values, g_partials, g_ticket, Add{})) out.store(0, sums[0]);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<DotArgs>& call) {
  const DotArgs& args = call.args;
  return dispatch_products(args, [&]<class In, class Acc>() {
    const auto start = [&](auto kernel) {
      return launch(kernel,
                    {.grid = dim3(static_cast<unsigned>(call.config<dot_plan::Cut>().blocks)),
                     .block = dim3(kBlock),
                     .shared_bytes = kStages * sizeof(Stage),
                     .stream = call.stream},
                    static_cast<const In*>(args.a.data), static_cast<const In*>(args.b.data), args.a.numel(),
                    static_cast<Acc*>(call.workspace.data),
                    static_cast<std::uint32_t*>(call.workspace.zeroed), output_of(args));
    };
    return straddles(args) ? start(bulk_ring_kernel<In, Acc, true>) : start(bulk_ring_kernel<In, Acc, false>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::dot_rungs
