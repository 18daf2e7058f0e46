// Rows cut over all blocks of the grid (device/sm90a/grid_rows.h).
#pragma once

#include <type_traits>

#include "rooftile/device/sm90a/grid_rows.h"
#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// How parts' statistics become a row's. How many elements a part has everybody knows. Squares are not negative: with their sign bit
// set the word is not 0, which stands for nothing yet.
template <class Norm>
struct GridStats {
  using Stats = typename Norm::Stats;
  static constexpr int kTakes = norm_plan::kTakes;
  static constexpr std::uint32_t kIsThere = 0x80000000u;

  template <class T>
  __device__ __forceinline__ static T filler() {
    return T{};
  }
  template <class Lanes>
  __device__ __forceinline__ static Stats over_lanes(Lanes lanes, const Stats& own) {
    return Norm::over_lanes(lanes, own);
  }
  __device__ __forceinline__ static std::uint64_t word_of(const Stats& stats) {
    return std::uint64_t{__float_as_uint(Norm::mean(stats))} << 32 |
           (__float_as_uint(stats.squares) | kIsThere);
  }
  __device__ __forceinline__ static Stats stats_in(std::uint64_t word, float count) {
    const float squares = __uint_as_float(static_cast<std::uint32_t>(word) & ~kIsThere);
    if constexpr (Norm::kHasMean)
      return {count, __uint_as_float(static_cast<std::uint32_t>(word >> 32)), squares, 0};
    if constexpr (!Norm::kHasMean) return {squares};
  }
  // Means are summed up as what they are off the first. Of nothing there is no mean to be off.
  template <int kOwn>
  __device__ __forceinline__ static Stats of_parts(const Stats (&own)[kOwn]) {
    constexpr std::integral_constant<int, kWarpSize> kWarp;
    float squares = 0;
    if constexpr (Norm::kHasMean) {
      const float first = __shfl_sync(kFullMask, own[0].mean, 0);
      float count = 0;
      float sum = 0;
#pragma unroll
      for (int k = 0; k < kOwn; ++k) {
        count += own[k].count;
        sum = own[k].count > 0 ? fmaf(own[k].mean - first, own[k].count, sum) : sum;
      }
      count = lanes_sum(kWarp, count);
      const float mean = first + Norm::centre(lanes_sum(kWarp, sum), count);
#pragma unroll
      for (int k = 0; k < kOwn; ++k) {
        const float off = own[k].count > 0 ? own[k].mean - mean : 0.0f;
        squares += fmaf(off * off, own[k].count, own[k].squares);
      }
      return {count, mean, lanes_sum(kWarp, squares), 0};
    }
    if constexpr (!Norm::kHasMean) {
#pragma unroll
      for (int k = 0; k < kOwn; ++k) squares += own[k].squares;
      return {lanes_sum(kWarp, squares)};
    }
  }
};

// What a kernel needs before its first load stands in front.
template <class T>
struct GridOperands {
  GridRowsOf<T, norm_plan::kTakes> rows;
  const T* g_weight;  // null: ones
  const T* g_bias;    // null: zeros
  T* g_y;
  std::int64_t y_pitch;
  float eps;
};

template <class Norm, class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kGridThreads, 1) grid_rows_kernel(GridOperands<T> call) {
  using Rows = GridRows<T, kThreads, kVectors, GridStats<Norm>>;
  using Row = typename Rows::Row;
  __shared__ typename Rows::Shared s_rows;
  __shared__ Mbarrier s_beside_there;
  ROOFTILE_DYN_SHARED(uint4, s_vectors);  // a part of weight, of bias, of a row for each group
  const int part = call.rows.part;
  Rows rows(call.rows, s_rows, s_vectors + norm_plan::kGridBeside * part);
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
        const auto store = [&](auto there) {
          row.store_by_place(call.g_y + r * call.y_pitch, [&](int v) {
            auto made = normalised(row.vector(v), results);
            const uint4* s_weight = s_vectors + (row.first(v) / Row::kElements - rows.first_vector());
            RawVector bias{};
            if constexpr (Norm::kHasMean)
              bias = beside_or<there>(call.g_bias, 0.0f, [&](auto) { return s_weight + part; });
            weigh<Norm, T>(made, beside_or<there>(call.g_weight, 1.0f, [&](auto) { return s_weight; }), bias);
            return rounded_each<T>(made);
          });
        };
        if (are_there<Norm>(call)) {
          store(std::true_type{});
        } else {
          store(std::false_type{});
        }
      });
}

template <class Norm, class T, class Args>
Status launch_grid(const Call<Args>& call) {
  const Cut& cut = call.template config<Cut>();
  if (cut.rows.is_empty()) return {};
  const Operands<T> all = operands_of<T>(call);
  return with_grid_shape(cut.grid.shape, [&]<int kThreads, int kVectors>() {
    return launch(grid_rows_kernel<Norm, T, kThreads, kVectors>, grid_launch(cut.grid, call.stream),
                  GridOperands<T>{.rows = {.g_x = all.g_x,
                                           .x_pitch = all.x_pitch,
                                           .rows = static_cast<int>(all.rows),
                                           .length = static_cast<int>(all.row_length),
                                           .part = cut.grid.part,
                                           .meeting = GridMeeting<norm_plan::kTakes>::of(
                                               call.workspace.zeroed, all.rows, cut.grid.blocks)},
                                  .g_weight = all.g_weight,
                                  .g_bias = all.g_bias,
                                  .g_y = all.g_y,
                                  .y_pitch = all.y_pitch,
                                  .eps = all.eps});
  });
}

template <class Norm, class Args>
Status launch_grid_rows(const Call<Args>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args,
                                                [&]<class T>() { return launch_grid<Norm, T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
