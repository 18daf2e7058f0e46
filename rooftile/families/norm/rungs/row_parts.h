// What kernels share whose blocks have parts of a row that meet in global memory (device/row_meeting.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/families/norm/rungs/register_rows.h"

namespace rooftile::ROOFTILE_TARGET::norm {

// How parts' statistics become a row's. How many elements a part has everybody knows. Squares are not negative: with their sign bit
// set the word is not 0, which stands for nothing yet.
template <class Norm>
struct PartWords {
  using Stats = typename Norm::Stats;
  static constexpr int kTakes = norm_plan::kTakes;
  static constexpr std::uint32_t kIsThere = 0x80000000u;

  template <class T>
  __device__ __forceinline__ static T filler() {
    return T{};
  }
  template <class Lanes>
  __device__ __forceinline__ static Stats over_lanes(Lanes lanes, const Stats& own) {
    return about_first(lanes, {own});
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
  template <int kOwn>
  __device__ __forceinline__ static Stats of_parts(const Stats (&own)[kOwn]) {
    return about_first(std::integral_constant<int, kWarpSize>{}, own);
  }

 private:
  // About the mean of the first lane's first, which is a number among the others: sums and squares have one way through the lanes, where
  // squares about the common mean would wait for it.
  template <class Lanes, int kOwn>
  __device__ __forceinline__ static Stats about_first(Lanes lanes, const Stats (&own)[kOwn]) {
    if constexpr (!Norm::kHasMean) {
      float squares = own[0].squares;
#pragma unroll
      for (int k = 1; k < kOwn; ++k) squares += own[k].squares;
      return {lanes_sum(lanes, squares)};
    } else {
      const float first = lanes_first(lanes, own[0].mean);
      float count = 0;
      Differences found;
#pragma unroll
      for (int k = 0; k < kOwn; ++k) {
        const float off =
            own[k].count > 0 ? own[k].mean - first : 0.0f;  // of nothing there is no mean to be off
        count += own[k].count;
        found.sum = fmaf(off, own[k].count, found.sum);
        found.squares += fmaf(off * off, own[k].count, own[k].squares);
      }
      return Norm::about(first, lanes_sum(lanes, count),
                         {lanes_sum(lanes, found.sum), lanes_sum(lanes, found.squares)});
    }
  }
};

// A call of theirs. What a kernel needs before its first load stands in front.
template <class T, class Rows>
struct PartOperands {
  Rows rows;
  const T* g_weight;  // null: ones
  const T* g_bias;    // null: zeros
  T* g_y;
  std::int64_t y_pitch;
  float eps;

  static PartOperands of(const Rows& rows, const Operands<T>& all) {
    return {rows, all.g_weight, all.g_bias, all.g_y, all.y_pitch, all.eps};
  }
};

// A row's part from the first_vector-th on, with weight and bias of this part, of up to `part` vectors each, in shared memory.
template <class Norm, class T, class Rows, class Row>
__device__ __forceinline__ void store_part(const PartOperands<T, Rows>& call, const Row& row, std::int64_t r,
                                           const Results& results, const uint4* s_beside, int first_vector) {
  constexpr int kThreads = Row::kCapacity / Row::kVectors;
  const uint4* s_first = s_beside + (row.first(0) / Row::kElements - first_vector);
  const auto store = [&](auto there) {
    row.store_by_place(call.g_y + r * call.y_pitch, [&](int v) {
      const uint4* s_weight = s_first + v * kThreads;
      const auto weight =
          as_floats(as_vector<T>(beside_or<there>(call.g_weight, 1.0f, [&](auto) { return s_weight; })));
      RawVector bias{};
      if constexpr (Norm::kHasMean)
        bias = beside_or<there>(call.g_bias, 0.0f, [&](auto) { return s_weight + call.rows.part; });
      const auto shift = as_floats(as_vector<T>(bias));
      auto made = normalised(row.vector(v), results);
#pragma unroll
      for (int e = 0; e < Row::kElements; ++e)
        made[e] = Norm::kHasMean ? fmaf(made[e], weight[e], shift[e]) : made[e] * weight[e];
      return rounded_each<T>(made);
    });
  };
  if (are_there<Norm>(call)) {
    store(std::true_type{});
  } else {
    store(std::false_type{});
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::norm
