// Rows split over blocks of their own (device/split_row.h).
#pragma once

#include <type_traits>

#include "rooftile/device/sm80/cp_async.h"
#include "rooftile/device/split_row.h"
#include "rooftile/families/norm/rungs/row_differences.h"
#include "rooftile/families/norm/rungs/row_parts.h"

namespace rooftile::ROOFTILE_TARGET::norm {

template <class T>
using SplitOperands = PartOperands<T, SplitRowsOf<T, norm_plan::kTakes>>;

// Weight and bias of this block's part, on their way to shared memory.
template <class Norm, class T, class Split>
__device__ __forceinline__ void ask_beside(const SplitOperands<T>& call, const Split& split,
                                           uint4* s_beside) {
  constexpr int kElements = Split::Row::kElements;
  for (int v = static_cast<int>(threadIdx.x); v < split.vectors(); v += kSplitThreads) {
    const int first = (split.first_vector() + v) * kElements;
    if (call.g_weight != nullptr) cp_async<kVecBytes>(s_beside + v, call.g_weight + first);
    if (Norm::kHasMean && call.g_bias != nullptr)
      cp_async<kVecBytes>(s_beside + call.rows.part + v, call.g_bias + first);
  }
}

// A row whose 16-bit elements are floats from its statistics to its results, which would make them once more.
template <class Row>
class FloatRow : public Row {
 public:
  using Vector = Vec<float, Row::kElements>;

  // Behind load().
  __device__ __forceinline__ void keep() {
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) {
      floats_[v] = as_floats(Row::vector(v));
#if !defined(ROOFTILE_SIM)
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) asm("" : "+f"(floats_[v][e]));  // nvcc would keep the 16 bits
#endif
    }
  }
  __device__ __forceinline__ Vector vector(int v) const { return floats_[v]; }
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) visit(vector(v), Row::first(v));
  }
  __device__ __forceinline__ void forget_conversions() {}

 private:
  Vector floats_[Row::kVectors];
};
template <class Row>
struct AsLoaded : Row {
  __device__ __forceinline__ void keep() {}
};
// As far as there are registers for twice the row.
inline constexpr int kMostFloats = 32;
template <class T, class Row>
using KeptRow =
    std::conditional_t<sizeof(T) == 2 && Row::kWhole && Row::kVectors * Row::kElements <= kMostFloats,
                       FloatRow<Row>, AsLoaded<Row>>;

// What one take of a row says: its results, and the factor of its elements by which to take it once more; 1: there is no need.
struct Taken {
  Results results;
  float next_scale;
};

template <class Norm, class T, int kVectors, int kRows, bool kWhole>
__global__ void __launch_bounds__(kSplitThreads, kSplitResident) split_rows_kernel(SplitOperands<T> call) {
  using Split = SplitRow<T, kVectors, kRows, kWhole, PartWords<Norm>, Taken>;
  __shared__ typename Split::Shared s_split;
  ROOFTILE_DYN_SHARED(uint4, s_beside);  // whole rows: a part of weight, of bias
  Split split(call.rows, s_split);
  KeptRow<T, typename Split::Row> row;
  split.load(row);
  if constexpr (kWhole) ask_beside<Norm>(call, split, s_beside);
  row.keep();
  const auto length = static_cast<float>(call.rows.length);
  const auto take = [&](float scale) {
    const auto conclude = [&](const typename Norm::Stats& stats) {
      return Taken{Results::of<Norm>(stats, scale, length, call.eps),
                   Range::scale_for(stats.squares, Norm::mean(stats), length, call.eps)};
    };
    return split.meet(stats_of<Norm, T>(row, scale), conclude, [] {
      if constexpr (kWhole) cp_async_wait_all();
    });
  };
  Taken taken = take(1.0f);
  // Rows that share their blocks meet together.
  if (split.any([](const Taken& of_row) { return of_row.next_scale != 1.0f; }))
    taken = take(taken.next_scale);
  split.leave([&](std::int64_t r) {
    if constexpr (kWhole) {
      store_part<Norm>(call, row, r, taken.results, s_beside, split.first_vector());
    } else {
      store_results(call, row, taken.results, call.g_y + r * call.y_pitch);
    }
  });
}

// The same of layer_norm's whole rows, as far as a thread has room for differences (row_differences.h). Not in place: all blocks of a row
// read its middle element, and the block that has it in its part may store there as soon as it has their words, which being relaxed do not
// say that the others' reads are done.
template <class T, int kVectors, int kRows>
__global__ void __launch_bounds__(kSplitThreads, kSplitResident)
    split_differences_kernel(SplitOperands<T> call) {
  using Split = SplitRow<T, kVectors, kRows, true, DifferenceWords, DifferencesTaken>;
  __shared__ typename Split::Shared s_split;
  ROOFTILE_DYN_SHARED(uint4, s_beside);  // a part of weight, of bias
  Split split(call.rows, s_split);
  // The middle element: a row's first and last are more often unlike the others.
  Origin from{1.0f, static_cast<float>(split.element(call.rows.length / 2))};
  DifferenceRow<typename Split::Row> row;
  split.load(row);
  ask_beside<Centred>(call, split, s_beside);
  const auto length = static_cast<float>(call.rows.length);
  const auto take = [&] {
    row.take(from);
    const Differences own = row.sums();
    return split.meet(
        {own.sum, own.squares},
        [&](const DifferenceWords::Stats& all) { return DifferencesTaken::of(all, from, length, call.eps); },
        [] { cp_async_wait_all(); });
  };
  // Rows that share their blocks meet together. Differences from a pivot far out have lost the elements' own digits: these are loaded
  // again, so that no registers hold them meanwhile.
  const auto is_again = [&] {
    return split.any([](const DifferencesTaken& of_row) { return of_row.again; });
  };
  DifferencesTaken taken = take();
  if (is_again()) {
    from = taken.next;
    split.load(row);
    taken = take();
    if (is_again()) {
      from = taken.next;
      split.load(row);
      taken = take();
    }
  }
  split.leave([&](std::int64_t r) {
    store_part<Centred>(call, row, r, taken.results, s_beside, split.first_vector());
  });
}

// Of one row to a block 32 floats of `f32` spill.
template <class Norm, class T, int kVectors, int kRows>
inline constexpr bool kHasDifferences = Norm::kHasMean && (kVectors * kVecElements<T> <= kMostFloats) &&
                                        (kVectors <= 4 || kRows == 2);

template <class Norm, class T, class Args>
Status launch_split(const Call<Args>& call) {
  const Cut& cut = call.template config<Cut>();
  if (cut.rows.is_empty()) return {};
  const Operands<T> all = operands_of<T>(call);
  return with_split_shape<norm_plan::kSplitShapes>(cut.split.shape, [&]<int kVectors, int kRows>() {
    auto* kernel = cut.is_whole ? split_rows_kernel<Norm, T, kVectors, kRows, true>
                                : split_rows_kernel<Norm, T, kVectors, kRows, false>;
    if constexpr (kHasDifferences<Norm, T, kVectors, kRows>) {
      if (cut.is_whole && all.g_x != all.g_y) kernel = split_differences_kernel<T, kVectors, kRows>;
    }
    const auto of_round = [&](const LaunchConfig& config, std::int64_t first, int rows) {
      auto operands = SplitOperands<T>::of(
          {.g_x = all.g_x + first * all.x_pitch,
           .x_pitch = all.x_pitch,
           .rows = rows,
           .length = static_cast<int>(all.row_length),
           .part = cut.split.part,
           .meeting = RowMeeting<norm_plan::kTakes>::of(call.workspace.zeroed, rows, cut.split.blocks)},
          all);
      operands.g_y += first * operands.y_pitch;
      return launch(kernel, config, operands);
    };
    return split_launches(cut.split, kRows, all.rows, call.stream, of_round);
  });
}

template <class Norm, class Args>
Status launch_split_rows(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args,
                                                [&]<class T>() { return launch_split<Norm, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
