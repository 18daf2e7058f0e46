// Rows split over blocks of their own.
//
// Idea       each of a few rows has some blocks, which keep their parts in registers; what a part found is one word in global memory, and
//            one warp of each block waits for the words of its row.
// Change     all rows are asked for at once, and a row waits for its own blocks alone, in place of all multiprocessors.
// Limits     a cooperative launch, up to two blocks for each multiprocessor; rows from 4 KiB on, at one stride; no bias, no mask;
//            32 bytes of a row for each thread, 64 or 128 where there are more rows or longer ones: 16 MiB of 132 multiprocessors in one launch;
//            more rows are further launches; a row of 128 blocks at most.
// Bottleneck launch, the way there and back, and one meeting between them, some 1 us.
// Source     NVIDIA Apex, contrib/csrc/layer_norm (CTAS_PER_ROW).
#include "rooftile/device/split_row.h"
#include "rooftile/ops/softmax/rungs/row_parts.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

template <class T>
using SplitOperands = PartOperands<T, SplitRowsOf<T, PartWords::kTakes>>;

// A thread's exponentials about its own maximum, from its sum to its results: what its maximum is off the row's is one factor more.
template <class Row>
struct KeptExponentials {
  Vec<float, Row::kElements> values[Row::kVectors];
  Stats own = kNone;

  __device__ __forceinline__ KeptExponentials(const Exponentials& exponentials, const Row& row) {
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) {
      values[v] = as_floats(row.vector(v));
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e) own.maximum = fmaxf(own.maximum, values[v][e]);
    }
    const float reference = finite_or_zero(own.maximum);
#pragma unroll
    for (int v = 0; v < Row::kVectors; ++v) {
      float sum = 0;
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e)
        sum += values[v][e] = exponentials.of(values[v][e] - reference);
      own.sum += sum;
    }
  }
};

template <class T, int kVectors, int kRows, bool kWhole, bool kLog>
__global__ void __launch_bounds__(kSplitThreads, kSplitResident) split_kernel(SplitOperands<T> call) {
  using Split = SplitRow<T, kVectors, kRows, kWhole, PartWords, Results>;
  using Row = typename Split::Row;
  __shared__ typename Split::Shared s_split;
  Split split(call.rows, s_split, PartWords{call.exponentials});
  Row row;
  split.load(row);
  const auto meet = [&](const Stats& own) {
    return split.meet(
        own, [&](const Stats& all) { return call.results(all); }, [] {});
  };
  if constexpr (!kLog && kVectors * Row::kElements <= softmax_plan::kMostKept) {
    const KeptExponentials<Row> kept(call.exponentials, row);
    const Results results = meet(kept.own);
    const float factor = call.exponentials.of(kept.own.maximum - results.reference) * results.factor;
    split.leave([&](std::int64_t r) {
      row.store_by_place(call.g_y + r * call.y_pitch, [&](int v) {
        Vec<T, Row::kElements> made;
#pragma unroll
        for (int e = 0; e < Row::kElements; ++e) made[e] = rounded<T>(kept.values[v][e] * factor);
        return made;
      });
    });
  } else {
    const Results results = meet(stats_of_part(call.exponentials, row));
    split.leave([&](std::int64_t r) {
      row.store(call.g_y + r * call.y_pitch,
                [&](const auto& vec, int) { return results_of<kLog>(results, vec); });
    });
  }
}

template <class T>
Status launch_split(const Call<SoftmaxArgs>& call) {
  const Cut& cut = call.config<Cut>();
  if (cut.rows.is_empty()) return {};
  const Operands<T> all = operands_of<T>(call);
  const std::int64_t x_pitch = cut.rows.tensors[kX].pitch;
  return with_split_shape<softmax_plan::kSplitShapes>(cut.split.shape, [&]<int kVectors, int kRows>() {
    using Kernel = void (*)(SplitOperands<T>);
    constexpr Kernel kAnywhere[] = {split_kernel<T, kVectors, kRows, false, false>,
                                    split_kernel<T, kVectors, kRows, false, true>};
    constexpr Kernel kWhole[] = {split_kernel<T, kVectors, kRows, true, false>,
                                 split_kernel<T, kVectors, kRows, true, true>};
    const Kernel kernel = (cut.is_whole ? kWhole : kAnywhere)[call.args.log ? 1 : 0];
    const auto of_round = [&](const LaunchConfig& config, std::int64_t first, int rows) {
      auto operands = SplitOperands<T>::of(
          {.g_x = all.g_x + first * x_pitch,
           .x_pitch = x_pitch,
           .rows = rows,
           .length = static_cast<int>(cut.rows.length),
           .part = cut.split.part,
           .meeting = RowMeeting<PartWords::kTakes>::of(call.workspace.zeroed, rows, cut.split.blocks)},
          all, cut);
      operands.g_y += first * operands.y_pitch;
      return launch(kernel, config, operands);
    };
    return split_launches(cut.split, kRows, cut.rows.count, call.stream, of_round);
  });
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() { return launch_split<T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
