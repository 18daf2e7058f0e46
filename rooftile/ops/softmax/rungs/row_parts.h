// What kernels share whose blocks have parts of a row that meet in global memory (device/row_meeting.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/ops/softmax/rungs/softmax_device.h"

namespace rooftile::ROOFTILE_TARGET::softmax_rungs {

// How parts' maxima and sums become a row's. Sums are not negative: with their sign bit set the word is not 0, which stands for nothing
// yet.
struct PartWords {
  using Stats = softmax_rungs::Stats;
  static constexpr int kTakes = softmax_plan::kTakes;
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

// A call of theirs. What a kernel needs before its first load stands in front.
template <class T, class Rows>
struct PartOperands {
  Rows rows;
  T* g_y;
  std::int64_t y_pitch;
  Exponentials exponentials;
  float inverse_temperature;
  bool log;

  static PartOperands of(const Rows& rows, const Operands<T>& all, const Cut& cut) {
    return {rows, all.g_y, cut.rows.tensors[kY].pitch, all.exponentials, all.inverse_temperature, all.log};
  }
  [[nodiscard]] __device__ __forceinline__ Results results(const Stats& stats) const {
    return Results::of(exponentials, inverse_temperature, log, stats);
  }
};

// Of this thread's elements.
template <class Row>
__device__ __forceinline__ Stats stats_of_part(const Exponentials& exponentials, Row& row) {
  Stats own = kNone;
  row.for_each([&](const auto& vec, int) { exponentials.add(own, as_floats(vec)); });
  row.forget_conversions();
  return own;
}

template <class T, class Rows, class Row>
__device__ __forceinline__ void store_part(const PartOperands<T, Rows>& call, const Row& row, std::int64_t r,
                                           const Results& results) {
  const auto store = [&](auto log) {
    row.store(call.g_y + r * call.y_pitch,
              [&](const auto& vec, int) { return results_of<log>(results, vec); });
  };
  if (results.log) {
    store(std::true_type{});
  } else {
    store(std::false_type{});
  }
}

}  // namespace rooftile::ROOFTILE_TARGET::softmax_rungs
