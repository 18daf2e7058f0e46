// Whole rows to a block.
//
// Idea       a block has a few rows to itself: every thread asks for its vectors of all of them, waits once, and the sums meet in
//            shared memory. Blocks that end soon are followed by others: what is on its way never runs dry.
// Change     no part to be found, no batch to be divided out, one loop: where the caches are cold the code comes from memory,
//            too, and in front of the first load there is as little of it as can be.
// Limits     an output for each row in memory; rows and x at 16 bytes, and of a multiple of them; enough rows for all
//            multiprocessors.
// Bottleneck DRAM.
#include "rooftile/ops/gemv/rungs/gemv_device.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

// Block (b, z): rows kRows b ... of matrix z. Its pointers go along with the loop: what the compiler may compute again in front of
// each load it does compute again.
template <class In, class Acc, int kThreads, int kRows, int kLoads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) whole_rows_kernel(Operands<In, Acc> call, int vectors) {
  constexpr int kWarps = kThreads / kWarpSize;
  constexpr int kElements = kVecElements<In>;
  __shared__ Acc s_sums[kRows][kWarps];
  const auto own = static_cast<int>(threadIdx.x);
  const std::int64_t batch = blockIdx.y;
  const std::int64_t first_row = std::int64_t{blockIdx.x} * kRows;
  const In* g_x = call.vector(batch) + own * kElements;
  const In* g_rows[kRows] = {call.row({batch, first_row}) + own * kElements};
#pragma unroll
  for (int r = 1; r < kRows; ++r)  // behind the last row the last one again: its sum goes nowhere
    g_rows[r] = g_rows[r - 1] + (first_row + r < call.shape.rows ? call.shape.pitch : 0);
  Acc sums[kRows] = {};
#pragma unroll 1
  for (int left = vectors - own; left > 0; left -= kThreads * kLoads) {
    RawVector r_a[kRows][kLoads] = {};
    RawVector r_x[kLoads] = {};
#pragma unroll
    for (int v = 0; v < kLoads; ++v) {
      const bool is_there = v == 0 || left > v * kThreads;
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        if (is_there)
          r_a[r][v] = load_bytes<kVecBytes, LoadPolicy::no_allocate>(g_rows[r] + v * kThreads * kElements);
    }
#pragma unroll
    for (int v = 0; v < kLoads; ++v) {
      if (v == 0 || left > v * kThreads) r_x[v] = load_bytes<kVecBytes>(g_x + v * kThreads * kElements);
    }
#pragma unroll
    for (int v = 0; v < kLoads; ++v)
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        sums[r] += product_of<Acc>(as_vector<In>(r_a[r][v]), as_vector<In>(r_x[v]));
    g_x += kThreads * kLoads * kElements;
#pragma unroll
    for (int r = 0; r < kRows; ++r) g_rows[r] += kThreads * kLoads * kElements;
  }

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Acc sum = warp_reduce(sums[r], Add{});
    if (lane_index() == 0) s_sums[r][warp_index()] = sum;
  }
  __syncthreads();  // every warp's sums are there
  if (own >= kRows || first_row + own >= call.shape.rows) return;
  Acc sum = s_sums[own][0];
#pragma unroll
  for (int w = 1; w < kWarps; ++w) sum += s_sums[own][w];
  call.store({batch, first_row + own}, sum);
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    const auto& cut = call.config<Cut>();
    const auto start = [&]<int kThreads, int kRows, int kLoads, int kBlocks>() {
      return launch(whole_rows_kernel<In, Acc, kThreads, kRows, kLoads, kBlocks>,
                    {.grid = dim3(static_cast<unsigned>(cut.tiles), static_cast<unsigned>(cut.shape.batches)),
                     .block = dim3(kThreads),
                     .stream = call.stream},
                    operands_of<In, Acc>(call), static_cast<int>(cut.shape.columns / kVecElements<In>));
    };
    using gemv_plan::kLongRows, gemv_plan::kOtherRows, gemv_plan::kWideRows;
    if (cut.lanes == kLongRows.threads)
      return start
          .template operator()<kLongRows.threads, kLongRows.rows, kLongRows.loads, kLongRows.blocks>();
    if (cut.lanes == kWideRows.threads)
      return start
          .template operator()<kWideRows.threads, kWideRows.rows, kWideRows.loads, kWideRows.blocks>();
    return start
        .template operator()<kOtherRows.threads, kOtherRows.rows, kOtherRows.loads, kOtherRows.blocks>();
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
