// Few rows.
//
// Idea       blocks share rows: a part of the columns for each. A block multiplies its part of four rows by vectors of x that it
//            loads once; eight loads of each thread are on their way.
// Change     the device is full whatever the number of rows. The warp that takes a row's last ticket adds up the row's parts in
//            their order: no second launch, the same bits in every run.
// Limits     an output for each row in memory, x without gaps. Rows that lie differently to x's vectors are taken one by one.
// Bottleneck DRAM; of small matrices the way to the ticket and back, a microsecond.
// Source     CUDA sample threadFenceReduction.
#include "rooftile/device/last_block.h"
#include "rooftile/ops/gemv/rungs/row_vectors.h"

namespace rooftile::ROOFTILE_TARGET::gemv_rungs {
namespace {

constexpr int kBlock = gemv_plan::kSplitBlock;
constexpr int kWarps = kBlock / kWarpSize;
static_assert(kWarps <= kWarpSize, "one warp adds up what all have");

// One value from `parts` of them, by a warp; eight loads of each lane are independent.
template <class Acc>
__device__ __forceinline__ Acc sum_of_parts(const Acc* g_parts, std::int64_t parts) {
  constexpr int kAtOnce = 8;
  Acc sum{};
  for (std::int64_t first = lane_index(); first < parts; first += kAtOnce * kWarpSize) {
    Acc r_parts[kAtOnce];
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k)
      r_parts[k] = first + k * kWarpSize < parts ? g_parts[first + k * kWarpSize] : Acc{};
#pragma unroll
    for (int k = 0; k < kAtOnce; ++k) sum += r_parts[k];
  }
  return warp_reduce(sum, Add{});
}

// Block b takes part b % parts of group b / parts: kRows rows of one matrix.
template <class In, class Acc, int kRows, bool kSkewed>
__global__ void __launch_bounds__(kBlock, gemv_plan::kSplitBlocks)
    split_columns_kernel(Operands<In, Acc> call, Cut cut, Acc* g_partials, std::uint32_t* g_tickets) {
  __shared__ Acc s_sums[kRows][kWarps];
  const std::int64_t group = blockIdx.x / static_cast<unsigned>(cut.parts);
  const std::int64_t part = blockIdx.x % static_cast<unsigned>(cut.parts);
  const std::int64_t batch = group / cut.tiles;
  const std::int64_t first_row = group % cut.tiles * kRows;
  const int warp = warp_index();

  RowVectors<In, kSkewed, kRows> rows(call.row({batch, first_row}), call.vector(batch), call.shape.columns);
#pragma unroll
  for (int r = 1; r < kRows; ++r) {
    // Behind the last row the last one again: its sum goes nowhere.
    const std::int64_t row = first_row + r < call.shape.rows ? first_row + r : call.shape.rows - 1;
    rows.g_rows[r] = call.row({batch, row});
  }
  Acc sums[kRows] = {};
  if (part == 0 && warp == 0) rows.add_edges(lane_index(), sums);
  const std::int64_t begin = part * cut.part;
  const std::int64_t left = rows.vectors - begin;
  const auto count = static_cast<int>(left < cut.part ? left : cut.part);
  add_vectors<gemv_plan::split_loads(kRows), kBlock>(rows, begin, count, static_cast<int>(threadIdx.x), sums);

#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    const Acc sum = warp_reduce(sums[r], Add{});
    if (lane_index() == 0) s_sums[r][warp] = sum;
  }
  __syncthreads();  // every warp's sums are there
  const std::int64_t row = first_row + warp;
  if (warp < kRows && row < call.shape.rows) {  // a warp for each row
    Acc sum = warp_reduce(lane_index() < kWarps ? s_sums[warp][lane_index()] : Acc{}, Add{});
    bool is_done = cut.parts == 1;
    if (!is_done) {
      const std::int64_t output = batch * call.shape.rows + row;
      Acc* g_parts = g_partials + output * cut.parts;
      if (lane_index() == 0) g_parts[part] = sum;
      is_done = is_last_warp(&g_tickets[output], static_cast<std::uint32_t>(cut.parts));
      if (is_done) sum = sum_of_parts(g_parts, cut.parts);
    }
    if (is_done && lane_index() == 0) call.store({batch, row}, sum);
  }
}

}  // namespace

Status ROOFTILE_RUNG(const Call<GemvArgs>& call) {
  return dispatch_floats(call.args, [&]<class In, class Acc>() -> Status {
    const auto& cut = call.config<Cut>();
    const auto start = [&](auto kernel) {
      return launch_blocks(call, kBlock, kernel, operands_of<In, Acc>(call), cut,
                           static_cast<Acc*>(call.workspace.data),
                           static_cast<std::uint32_t*>(call.workspace.zeroed));
    };
    if (!cut.aligned) return start(split_columns_kernel<In, Acc, 1, true>);
    return cut.rows == 1 ? start(split_columns_kernel<In, Acc, 1, false>)
                         : start(split_columns_kernel<In, Acc, gemv_plan::kSplitRows, false>);
  });
}

}  // namespace rooftile::ROOFTILE_TARGET::gemv_rungs
