// The copy engine keeps the bytes in flight, a ring for each warp.
//
// Idea       a lane asks for 2 KiB of its warp's row at a time by bulk copies into the warp's own ring in shared memory; row follows
//            row without a gap.
// Change     64 KiB of each block are on their way at every moment, where a thread's loads (vectorized) drain before the next are
//            issued. Nobody but the warp waits for its bytes: no barrier of the block, no empty slots to be told of.
// Limits     sm_90a; an output for each row in memory, rows and x that start at 16 bytes. Small matrices pay for filling the rings.
// Bottleneck DRAM.
// Source     PTX ISA, cp.async.bulk and mbarrier.
#include "rooftile/device/sm90a/bulk_copy.h"
#include "rooftile/device/sm90a/mbarrier.h"
#include "rooftile/ops/gemv/rungs/row_vectors.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kRingBlock;
constexpr int kWarps = kBlock / kWarpSize;
constexpr int kStages = gemv_plan::kRingStages;
constexpr int kChunk = gemv_plan::kRingChunkBytes / kVecBytes;  // vectors
constexpr int kVectors = kChunk / kWarpSize;                    // of each lane
static_assert(kChunk % kWarpSize == 0, "every lane takes as many vectors of a full chunk");

struct Ring {
  uint4 chunks[kStages][kChunk];
};

// Warp w of all takes rows w, w + warps, ... Dynamic shared memory: the rings.
template <class In, class Acc>
__global__ void __launch_bounds__(kBlock, gemv_plan::kRingBlocks) warp_rings_kernel(Operands<In, Acc> call) {
  ROOFTILE_DYN_SHARED(Ring, s_rings);
  __shared__ Mbarrier s_full[kWarps][kStages];  // the chunk has landed
  const int warp = warp_index();
  const int lane = lane_index();
  Ring& s_ring = s_rings[warp];
  if (lane == 0) {
    for (int s = 0; s < kStages; ++s) mbarrier_init(&s_full[warp][s], 1);
    fence_mbarrier_init();
  }
  __syncwarp();  // the barriers are ready

  const std::int64_t rows = call.outputs();
  const std::int64_t warps = std::int64_t{gridDim.x} * kWarps;
  const std::int64_t first_row = std::int64_t{blockIdx.x} * kWarps + warp;
  const std::int64_t vectors = call.shape.columns / kVecElements<In>;  // of a row
  // What lane 0 asks for next.
  std::int64_t next_row = vectors > 0 ? first_row : rows;
  std::int64_t next = 0;
  const auto fill = [&](int stage) {
    const std::int64_t left = vectors - next;
    const auto bytes = static_cast<std::uint32_t>((left < kChunk ? left : std::int64_t{kChunk}) * kVecBytes);
    const In* g_row = call.row(call.place_of(next_row));
    mbarrier_arrive_expect_tx(&s_full[warp][stage], bytes);
    bulk_load(s_ring.chunks[stage], g_row + next * kVecElements<In>, bytes, &s_full[warp][stage]);
    next += kChunk;
    if (next >= vectors) {
      next = 0;
      next_row += warps;
    }
  };
  if (lane == 0) {
    for (int s = 0; s < kStages && next_row < rows; ++s) fill(s);
  }

  int stage = 0;
  std::uint32_t parity = 0;
  for (std::int64_t row = first_row; row < rows; row += warps) {
    const auto at = call.place_of(row);
    const RowVectors<In, false> beside(call.row(at), call.vector(at.batch), call.shape.columns);
    Acc total[1] = {};
    beside.add_edges(lane, total);
    Acc sums[kVectors] = {};
    for (std::int64_t chunk = 0; chunk < vectors; chunk += kChunk) {
      mbarrier_wait(&s_full[warp][stage], parity);
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        const int i = lane + v * kWarpSize;
        if (chunk + i < vectors)
          sums[v] += product_of<Acc>(as_vector<In>(s_ring.chunks[stage][i]), beside.x.load(chunk + i));
      }
      __syncwarp();  // all lanes have read before lane 0 asks for the next
      if (lane == 0 && next_row < rows) fill(stage);
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1u;
      }
    }
#pragma unroll
    for (int v = 0; v < kVectors; ++v) total[0] += sums[v];
    total[0] = warp_reduce(total[0], Add{});
    if (lane == 0) call.store(at, total[0]);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    return launch(warp_rings_kernel<In, Acc>,
                  {.grid = dim3(static_cast<unsigned>(call.config<Cut>().blocks)),
                   .block = dim3(kBlock),
                   .shared_bytes = kWarps * sizeof(Ring),
                   .stream = call.stream},
                  operands_of<In, Acc>(call));
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
