// As many threads to a row as it has vectors.
//
// Idea       a row's aligned vectors of 16 bytes in the registers of 1 to 512 threads, by its length; what hangs over at its ends
//            is loaded element by element.
// Change     16 bytes for each load and store; short rows leave no lane idle, of long ones a warp or several have a block. Eight vectors
//            for each thread, not four: as many bytes on their way by half of the warps, which wait for each other. Long rows of whole
//            vectors: a kernel that looks at no element by itself. A warp's row: its maximum first, then every exponential once, kept
//            for the result. Of an x from 64 MiB on long whole rows pass through L2 in front of what is written.
// Limits     rows of up to 64 KiB without gaps, x and y alike to 16 bytes; no bias, no mask.
// Bottleneck DRAM; of long rows a multiprocessor's blocks are few, and wait for their slowest load.
#include "rooftile/device/register_row.h"
#include "rooftile/device/sm80/passing_rows.h"
#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {
namespace {

using softmax_plan::block_of, softmax_plan::has_own_block;

// Of several warps each would wait for the others twice, or correct what it has kept: 0.5 % slower.
template <class T>
constexpr bool keeps_exponentials(const RowShape& shape) {
  return shape.threads <= kWarpSize && shape.vectors * kVecElements<T> <= softmax_plan::kMostKept;
}

// The row's probabilities. By all lanes of a warp.
template <class T, class Threads, int kVectors, bool kWhole>
__device__ __forceinline__ void write_by_kept(const Operands<T>& call,
                                              const RegisterRow<T, Threads, kVectors, kWhole>& row, T* g_y) {
  constexpr int kElements = kVecElements<T>;
  Stats stats = kNone;
  row.for_each([&](const auto& vec, int) {
    const auto v = as_floats(vec);
    float own = v[0];
#pragma unroll
    for (int e = 1; e < kElements; ++e) own = fmaxf(own, v[e]);
    stats.maximum = fmaxf(stats.maximum, own);
  });
  stats.maximum = lanes_reduce<Threads::kLanes>(stats.maximum, [](float a, float b) { return fmaxf(a, b); });
  const float reference = finite_or_zero(stats.maximum);
  Vec<float, kElements> kept[kVectors];
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    kept[v] = as_floats(row.vector(v));
#pragma unroll
    for (int e = 0; e < kElements; ++e) kept[v][e] = call.exponentials.of(kept[v][e] - reference);
    float sum = kept[v][0];
#pragma unroll
    for (int e = 1; e < kElements; ++e) sum += kept[v][e];
    stats.sum += sum;
  }
  stats.sum = lanes_reduce<Threads::kLanes>(stats.sum, [](float a, float b) { return a + b; });
  const float factor = call.results(stats).factor;
  row.store_by_place(g_y, [&](int v) {
    Vec<T, kElements> made;
#pragma unroll
    for (int e = 0; e < kElements; ++e) made[e] = rounded<T>(kept[v][e] * factor);
    return made;
  });
}

template <class T, class Threads, int kVectors, bool kWhole>
__device__ __forceinline__ void write_by_statistics(const Operands<T>& call,
                                                    RegisterRow<T, Threads, kVectors, kWhole>& row,
                                                    Stats (&s_stats)[Threads::kWarps], T* g_y) {
  Stats stats = kNone;
  row.for_each([&](const auto& vec, int) { call.exponentials.add(stats, as_floats(vec)); });
  row.forget_conversions();  // bf16 spilled 32 bytes
  stats = Threads::all_reduce(stats, kNone, s_stats, [&](auto lanes, const Stats& own) {
    return call.exponentials.over_lanes(lanes, own);
  });
  const Results results = call.results(stats);
  const auto store = [&](auto log) {
    row.store(g_y, [&](const auto& vec, int) { return results_of<log>(results, vec); });
  };
  if (results.log) {
    store(std::true_type{});
  } else {
    store(std::false_type{});
  }
}

template <class T, std::size_t kShape, bool kWhole>
__global__ void __launch_bounds__(block_of(softmax_plan::kRowShapes[kShape]),
                                  softmax_plan::kResidentThreads / block_of(softmax_plan::kRowShapes[kShape]))
    vectorized_kernel(Operands<T> call) {
  constexpr RowShape kOf = softmax_plan::kRowShapes[kShape];
  using Threads = RowThreads<kOf.threads>;
  constexpr int kRows = block_of(kOf) / kOf.threads;
  __shared__ Stats s_stats[kRows][Threads::kWarps];
  const std::int64_t r = std::int64_t{blockIdx.x} * kRows + Threads::row();
  const bool is_row = r < call.places.rows.count;
  RegisterRow<T, Threads, kOf.vectors, kWhole> row;
  const T* g_x = call.x(is_row ? r : 0);
  const int length = is_row ? static_cast<int>(call.places.rows.length) : 0;
  const auto filler = static_cast<T>(kNegativeInfinity);
  [[maybe_unused]] const PassingRows passing(call.passing);
  if constexpr (kWhole) {
    row.load(g_x, length, filler, 0, row.kCapacity, passing);
  } else {
    row.load(g_x, length, filler);
  }
  T* g_y = call.y(is_row ? r : 0);
  bool is_written = false;
  if constexpr (keeps_exponentials<T>(kOf)) {
    if (!call.log) {
      write_by_kept(call, row, g_y);
      is_written = true;
    }
  }
  if (!is_written) write_by_statistics(call, row, s_stats[Threads::row()], g_y);
  if constexpr (kWhole) {
    passing.let_go(
        r, call.places.rows.count, call.places.rows.length * std::int64_t{sizeof(T)},
        [&](std::int64_t row_read) { return call.x(row_read); }, Threads::index(), kOf.threads);
  }
}

template <class T, std::size_t kShape = 0>
Status launch_shape(const Call<SoftmaxArgs>& call) {
  constexpr RowShape kOf = softmax_plan::kRowShapes[kShape];
  const Cut& cut = call.config<Cut>();
  if (cut.shape == static_cast<int>(kShape)) {
    auto kernel = vectorized_kernel<T, kShape, false>;
    if constexpr (has_own_block(kOf)) {
      if (cut.is_whole) kernel = vectorized_kernel<T, kShape, true>;
    }
    return launch_rows<T>(call, kernel, block_of(kOf), block_of(kOf) / kOf.threads);
  }
  if constexpr (kShape + 1 < softmax_plan::kRowShapes.size()) return launch_shape<T, kShape + 1>(call);
  return unsupported("a longer row than registers have room for");
}

}  // namespace

Status ROOFTILE_RUNG(const Call<SoftmaxArgs>& call) {
  return dispatch_floats<DTypes<float, __half>>(call.args, [&]<class T>() { return launch_shape<T>(call); });
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
