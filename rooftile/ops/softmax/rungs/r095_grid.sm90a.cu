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
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

// How parts' maxima and sums become a row's. Sums are not negative: with their sign bit set the word is not 0, which stands for nothing
// yet.
struct GridStats {
  using Stats = softmax_rungs::Stats;
  static constexpr int kTakes = softmax_plan::kGridTakes;
  static constexpr std::uint32_t kIsThere = 0x80000000u;
  Exponentials exponentials;

  template <class T>
  __device__ __forceinline__ static T filler() {
    return static_cast<T>(kNegativeInfinity);
  }
  template <class Lanes>
  __device__ __forceinline__ Stats over_lanes(Lanes lanes, const Stats& own) const {
    return exponentials.over_lanes(lanes, own);
  }
  __device__ __forceinline__ static std::uint64_t word_of(const Stats& stats) {
    return std::uint64_t{__float_as_uint(stats.maximum)} << 32 | (__float_as_uint(stats.sum) | kIsThere);
  }
  __device__ __forceinline__ static Stats stats_in(std::uint64_t word, float count) {
    if (count == 0) return kNone;
    return {__uint_as_float(static_cast<std::uint32_t>(word >> 32)),
            __uint_as_float(static_cast<std::uint32_t>(word) & ~kIsThere)};
  }
  template <int kOwn>
  __device__ __forceinline__ Stats of_parts(const Stats (&own)[kOwn]) const {
    Stats all = kNone;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) all.maximum = fmaxf(all.maximum, own[k].maximum);
    const float reference = finite_or_zero(all.maximum);
#pragma unroll
    for (int k = 0; k < kOwn; ++k)
      all.sum = fmaf(own[k].sum, exponentials.of(own[k].maximum - reference), all.sum);
    return over_lanes(std::integral_constant<int, kWarpSize>{}, all);
  }
};

// What a kernel needs before its first load stands in front.
template <class T>
struct GridOperands {
  GridRowsOf<T, GridStats::kTakes> rows;
  T* g_y;
  std::int64_t y_pitch;
  Exponentials exponentials;
  float inverse_temperature;
  bool log;
};

template <class T, int kThreads, int kVectors>
__global__ void __launch_bounds__(kGridThreads, 1) grid_kernel(GridOperands<T> call) {
  using Rows = GridRows<T, kThreads, kVectors, GridStats>;
  using Row = typename Rows::Row;
  __shared__ typename Rows::Shared s_rows;
  ROOFTILE_DYN_SHARED(uint4, s_vectors);  // a part of a row for each group
  Rows rows(call.rows, s_rows, s_vectors, GridStats{call.exponentials});
  rows.start();
  rows.for_each(
      [&](Row& row, auto meet) {
        Stats own = kNone;
        row.for_each([&](const auto& vec, int) { call.exponentials.add(own, as_floats(vec)); });
        row.forget_conversions();
        return Results::of(call.exponentials, call.inverse_temperature, call.log, meet(own));
      },
      [&](const Row& row, int r, const Results& results, bool) {
        T* g_y = call.g_y + r * call.y_pitch;
        const auto store = [&](auto log) {
          row.store(g_y, [&](const auto& vec, int) { return results_of<log>(results, vec); });
        };
        if (results.log) {
          store(std::true_type{});
        } else {
          store(std::false_type{});
        }
      });
}

template <class T>
Status launch_grid(const Call<SoftmaxArgs>& call) {
  const Cut& cut = call.config<Cut>();
  if (cut.rows.is_empty()) return {};
  const Operands<T> all = operands_of<T>(call);
  return with_grid_shape(cut.grid.shape, [&]<int kThreads, int kVectors>() {
    return launch(grid_kernel<T, kThreads, kVectors>, grid_launch(cut.grid, call.stream),
                  GridOperands<T>{.rows = {.g_x = all.g_x,
                                           .x_pitch = cut.rows.tensors[kX].pitch,
                                           .rows = static_cast<int>(cut.rows.count),
                                           .length = static_cast<int>(cut.rows.length),
                                           .part = cut.grid.part,
                                           .meeting = GridMeeting<GridStats::kTakes>::of(
                                               call.workspace.zeroed, cut.rows.count, cut.grid.blocks)},
                                  .g_y = all.g_y,
                                  .y_pitch = cut.rows.tensors[kY].pitch,
                                  .exponentials = all.exponentials,
                                  .inverse_temperature = all.inverse_temperature,
                                  .log = all.log});
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() { return launch_grid<T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
