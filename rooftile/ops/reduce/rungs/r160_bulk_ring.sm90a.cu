// The copy engine keeps the bytes in flight.
//
// Idea       one thread asks for 32 KiB at a time by a bulk copy into a ring of shared memory; the others
//            wait at a barrier until their bytes are there.
// Change     192 KiB per SM on the way at every moment, by two instructions per 64 KiB, where a thread's
//            loads (no_allocate_loads) drain before the next eight are issued.
// Limits     sm_90a; all elements of a contiguous tensor; no argmin, no argmax. Small inputs pay for filling
//            the ring.
// Bottleneck DRAM.
// Source     PTX ISA, cp.async.bulk and mbarrier.
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/ops/reduce/reduce_rows.h"
#include "rooftile/ops/reduce/rungs/reduce_device.h"

namespace rooftile::ROOFTILE_TARGET::reduce_rungs {
namespace {

constexpr int kBlock = reduce_plan::kGridBlock;
constexpr int kWarps = kBlock / kWarpSize;
constexpr int kStages = reduce_plan::kRingStages;
constexpr int kStageVectors = reduce_plan::kRingStageBytes / kVecBytes;
constexpr int kVectors = kStageVectors / kBlock;  // of each thread per stage
static_assert(kStageVectors % kBlock == 0, "every thread takes as many vectors of a full stage");

// The vectors of one stage that are this thread's. `count` of the stage's are there: all of them where kFull
// is.
template <bool kFull, class Reduction>
__device__ __forceinline__ void take_stage(const Reduction& reduction,
                                           typename Reduction::Acc (&acc)[kVectors], const uint4* s_stage,
                                           int count, std::int64_t index) {
  using In = typename Reduction::In;
  constexpr int kElements = kVecElements<In>;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    const int i = static_cast<int>(threadIdx.x) + v * kBlock;
    if (!kFull && i >= count) break;
    Vec<In, kElements> vec;
    const uint4 raw = s_stage[i];
    memcpy(static_cast<void*>(&vec), &raw, sizeof(vec));
    acc[v] = take_vec(reduction, acc[v], vec, index + i * kElements);
  }
}

// Block b takes stages b, b + grid, ... of the vectors behind the first line of 128 bytes; block 0 the
// elements in front of it and behind the last vector. Dynamic shared memory: the ring.
template <class Reduction>
__global__ void __launch_bounds__(kBlock, reduce_plan::kResidentBlocks)
    bulk_ring_kernel(const typename Reduction::In* __restrict__ g_in, std::int64_t n,
                     typename Reduction::Acc* g_partials, std::uint32_t* g_ticket, Reduction reduction,
                     ReduceOutput out) {
  using In = typename Reduction::In;
  using Acc = typename Reduction::Acc;
  constexpr int kElements = kVecElements<In>;
  ROOFTILE_DYN_SHARED(uint4, s_ring);
  __shared__ Mbarrier s_full[kStages];   // the copy has landed
  __shared__ Mbarrier s_empty[kStages];  // every warp has read it
  __shared__ WarpSlots<Reduction> s_warp_values;
  const auto thread = static_cast<int>(threadIdx.x);
  const auto combine = [&](Acc a, Acc b) { return reduction.combine(a, b); };

  const std::int64_t head = elements_to_line(g_in, n);
  const std::int64_t vectors = (n - head) / kElements;
  const auto* g_vectors = reinterpret_cast<const uint4*>(g_in + head);
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
    const std::int64_t left = vectors - at;
    const auto bytes =
        static_cast<std::uint32_t>((left < kStageVectors ? left : std::int64_t{kStageVectors}) * kVecBytes);
    mbarrier_arrive_expect_tx(&s_full[stage], bytes);
    bulk_load(s_ring + stage * kStageVectors, g_vectors + at, bytes, &s_full[stage]);
  };
  const std::int64_t first = std::int64_t{blockIdx.x} * kStageVectors;
  std::int64_t next = first;  // thread 0's: the stage to ask for
  if (thread == 0) {
    for (int s = 0; s < kStages && next < vectors; ++s, next += step) fill(s, next);
  }

  Acc acc[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) acc[v] = reduction.identity();
  int stage = 0;
  std::uint32_t parity = 0;
  for (std::int64_t at = first; at < vectors; at += step) {
    mbarrier_wait(&s_full[stage], parity);
    const uint4* s_stage = s_ring + stage * kStageVectors;
    const std::int64_t index = head + at * kElements;
    if (vectors - at >= kStageVectors) {
      take_stage<true>(reduction, acc, s_stage, kStageVectors, index);
    } else {
      take_stage<false>(reduction, acc, s_stage, static_cast<int>(vectors - at), index);
    }
    __syncwarp();  // all lanes have read before lane 0 says so
    if (thread % kWarpSize == 0) mbarrier_arrive(&s_empty[stage]);
    if (thread == 0 && next < vectors) {
      mbarrier_wait(&s_empty[stage], parity);
      fill(stage, next);
      next += step;
    }
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1u;
    }
  }
  if (blockIdx.x == 0) {
    const std::int64_t tail = head + vectors * kElements;
    if (thread < head) acc[0] = reduction.take(acc[0], g_in[thread], thread);
    if (tail + thread < n) acc[1] = reduction.take(acc[1], g_in[tail + thread], tail + thread);
  }
#pragma unroll
  for (int v = 1; v < kVectors; ++v) acc[0] = combine(acc[0], acc[v]);

  Acc total = block_reduce<kBlock>(acc[0], reduction.identity(), s_warp_values, combine);
  if (gridDim.x > 1) {
    if (thread == 0) g_partials[blockIdx.x] = total;
    if (!is_last_block(g_ticket, gridDim.x)) return;
    // is_last_block is a barrier: s_warp_values may be written again.
    total = combine_partials(reduction, g_partials, gridDim.x, s_warp_values);
  }
  if (thread == 0) reduction.store(out, 0, total);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<ReduceArgs>& call) {
  return dispatch_values(call.args, [&]<class Reduction>(const Reduction& reduction) {
    using In = typename Reduction::In;
    const std::int64_t n = call.args.in.numel();
    return launch(bulk_ring_kernel<Reduction>,
                  {.grid = dim3(static_cast<unsigned>(call.config<reduce_plan::Cut>().blocks)),
                   .block = dim3(kBlock),
                   .shared_bytes = kStages * reduce_plan::kRingStageBytes,
                   .stream = call.stream},
                  static_cast<const In*>(call.args.in.data), n,
                  static_cast<typename Reduction::Acc*>(call.workspace.data),
                  static_cast<std::uint32_t*>(call.workspace.zeroed), reduction, make_output(call.args, n));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::reduce_rungs
