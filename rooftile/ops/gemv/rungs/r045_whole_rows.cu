// Whole rows to a block.
//
// Idea       a block has a few rows to itself: every thread asks for its vectors of all of them, waits once, and the sums meet in
//            shared memory. Blocks that end soon are followed by others: what is on its way never runs dry.
// Change     no part to be found, no batch to be divided out, one loop: where the caches are cold the code comes from memory,
//            too, and in front of the first load there is as little of it as can be.
// Limits     an output for each row in memory; rows and x at 16 bytes; enough rows for all multiprocessors.
// Bottleneck DRAM.
#include "rooftile/ops/gemv/rungs/row_vectors.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

// Block (b, z): rows kRows b ... of matrix z.
template <class In, class Acc, int kThreads, int kRows, int kLoads, int kBlocks>
__global__ void __launch_bounds__(kThreads, kBlocks) whole_rows_kernel(Operands<In, Acc> call) {
  constexpr int kWarps = kThreads / kWarpSize;
  using Vector = Vec<In, kVecElements<In>>;
  __shared__ Acc s_sums[kRows][kWarps];
  const std::int64_t batch = blockIdx.y;
  const std::int64_t first_row = std::int64_t{blockIdx.x} * kRows;
  RowVectors<In, false, kRows> rows(call.row({batch, first_row}), call.vector(batch), call.shape.columns);
#pragma unroll
  for (int r = 1; r < kRows; ++r) {
    // Behind the last row the last one again: its sum goes nowhere.
    const std::int64_t row = first_row + r < call.shape.rows ? first_row + r : call.shape.rows - 1;
    rows.g_rows[r] = call.row({batch, row});
  }
  Acc sums[kRows] = {};
  const auto vectors = static_cast<int>(rows.vectors);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < vectors; i += kThreads * kLoads) {
    RawVector r_a[kRows][kLoads];
#pragma unroll
    for (int v = 0; v < kLoads; ++v) {
#pragma unroll
      for (int r = 0; r < kRows; ++r)
        r_a[r][v] = i + v * kThreads < vectors ? rows.load(r, i + v * kThreads) : RawVector{};
    }
#pragma unroll
    for (int v = 0; v < kLoads; ++v) {
      if (i + v * kThreads >= vectors) break;
      const Vector r_x = rows.x.load(i + v * kThreads);
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r] += product_of<Acc>(as_vector<In>(r_a[r][v]), r_x);
    }
  }
  if (warp_index() == 0) rows.add_edges(lane_index(), sums);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Acc sum = warp_reduce(sums[r], Add{});
    if (lane_index() == 0) s_sums[r][warp_index()] = sum;
  }
  __syncthreads();  // every warp's sums are there
  const auto own = static_cast<int>(threadIdx.x);
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
                    operands_of<In, Acc>(call));
    };
    using gemv_plan::kLongRows, gemv_plan::kOtherRows, gemv_plan::kWideRows;
    if (cut.rows == kLongRows.rows)
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
