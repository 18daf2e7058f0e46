// Rows cut over all multiprocessors.
//
// Idea       every block has a part of every row in registers; its maximum and sum are one word in global memory, and each group of
//            warps waits for the words of all blocks.
// Change     a few long rows have all multiprocessors, in place of a cluster for each; rows that have met are stored while others load.
// Limits     sm_90a; a cooperative launch, a block for each multiprocessor; up to 4096 whole rows from 4 KiB on at multiples of 16 bytes;
//            64 KiB of a row for each block; no bias, no mask.
// Bottleneck DRAM; of few rows the way there and back, of which one meeting, some 2 us, is not overlapped.
// Source     CUDA Programming Guide, Grid Synchronization; publishing: Merrill and Garland (2016).
#include "rooftile/device/sm90a/grid_rows.h"
#include "rooftile/ops/softmax/rungs/row_parts.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

template <class T>
using GridOperands = PartOperands<T, GridRowsOf<T, PartWords::kTakes>>;

template <class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kGridThreads, 1) grid_kernel(GridOperands<T> call) {
  using Rows = GridRows<T, kThreads, kVectors, PartWords>;
  using Row = typename Rows::Row;
  __shared__ typename Rows::Shared s_rows;
  ROOFTILE_DYN_SHARED(uint4, s_vectors);  // a part of a row for each group
  Rows rows(call.rows, s_rows, s_vectors, PartWords{call.exponentials});
  rows.start();
  rows.for_each(
      [&](Row& row, auto meet) { return call.results(meet(stats_of_part(call.exponentials, row))); },
      [&](const Row& row, int r, const Results& results, bool) { store_part(call, row, r, results); });
}

template <class T>
Status launch_grid(const Call<SoftmaxArgs>& call) {
  const Cut& cut = call.config<Cut>();
  if (cut.rows.is_empty()) return {};
  const Operands<T> all = operands_of<T>(call);
  return with_grid_shape(cut.grid.shape, [&]<int kThreads, int kVectors>() {
    return launch(grid_kernel<T, kThreads, kVectors>, grid_launch(cut.grid, call.stream),
                  GridOperands<T>::of({.g_x = all.g_x,
                                       .x_pitch = cut.rows.tensors[kX].pitch,
                                       .rows = static_cast<int>(cut.rows.count),
                                       .length = static_cast<int>(cut.rows.length),
                                       .part = cut.grid.part,
                                       .meeting = RowMeeting<PartWords::kTakes>::of(
                                           call.workspace.zeroed, cut.rows.count, cut.grid.blocks)},
                                      all, cut));
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() { return launch_grid<T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
