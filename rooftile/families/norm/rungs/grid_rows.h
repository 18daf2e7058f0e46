// Rows cut over all blocks of the grid (device/sm90a/grid_rows.h).
#pragma once

#include "rooftile/device/sm90a/grid_rows.h"
#include "rooftile/families/norm/rungs/row_parts.h"

namespace rooftile::ROOFTILE_TARGET::norm {

template <class T>
using GridOperands = PartOperands<T, GridRowsOf<T, norm_plan::kTakes>>;

template <class Norm, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kGridThreads, 1) grid_rows_kernel(GridOperands<T> call) {
  using Rows = GridRows<T, kThreads, kVectors, PartWords<Norm>>;
  using Row = typename Rows::Row;
  __shared__ typename Rows::Shared s_rows;
  __shared__ Mbarrier s_beside_there;
  ROOFTILE_DYN_SHARED(uint4, s_vectors);  // a part of weight, of bias, of a row for each group
  const int part = call.rows.part;
  Rows rows(call.rows, s_rows, s_vectors + norm_plan::kBesideParts * part);
  if (threadIdx.x == 0) mbarrier_init(&s_beside_there, 1);
  rows.start();
  if (threadIdx.x == kGridThreads - 1) {
    const bool has_bias = Norm::kHasMean && call.g_bias != nullptr;
    mbarrier_arrive_expect_tx(&s_beside_there,
                              (call.g_weight != nullptr ? rows.bytes() : 0) + (has_bias ? rows.bytes() : 0));
    if (call.g_weight != nullptr)
      bulk_load(s_vectors, rows.place(call.g_weight), rows.bytes(), &s_beside_there);
    if (has_bias) bulk_load(s_vectors + part, rows.place(call.g_bias), rows.bytes(), &s_beside_there);
  }
  rows.for_each(
      [&](Row& row, auto meet) {
        return results_of<Norm>(call.rows.length, call.eps,
                                [&](float scale) { return meet(stats_of<Norm, T>(row, scale)); });
      },
      [&](const Row& row, int r, const Results& results, bool is_first) {
        if (is_first) mbarrier_wait(&s_beside_there, 0);
        store_part<Norm>(call, row, r, results, s_vectors, rows.first_vector());
      });
}

template <class Norm, class T, class Args>
Status launch_grid(const Call<Args>& call) {
  const Cut& cut = call.template config<Cut>();
  if (cut.rows.is_empty()) return {};
  const Operands<T> all = operands_of<T>(call);
  return with_grid_shape(cut.grid.shape, [&]<int kThreads, int kVectors>() {
    return launch(grid_rows_kernel<Norm, T, kThreads, kVectors>, grid_launch(cut.grid, call.stream),
                  GridOperands<T>::of({.g_x = all.g_x,
                                       .x_pitch = all.x_pitch,
                                       .rows = static_cast<int>(all.rows),
                                       .length = static_cast<int>(all.row_length),
                                       .part = cut.grid.part,
                                       .meeting = RowMeeting<norm_plan::kTakes>::of(
                                           call.workspace.zeroed, all.rows, cut.grid.blocks)},
                                      all));
  });
}

template <class Norm, class Args>
Status launch_grid_rows(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args,
                                                [&]<class T>() { return launch_grid<Norm, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
