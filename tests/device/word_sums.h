// Sums of words, for what blocks tell each other of their parts of a row (device/row_meeting.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "rooftile/device/row_threads.h"

namespace rooftile::ROOFTILE_TARGET {

template <int kTakes_>
struct WordSums {
  using Stats = std::uint32_t;
  static constexpr int kTakes = kTakes_;

  template <class T>
  __device__ __forceinline__ static T filler() {
    return 0;
  }
  template <class Lanes>
  __device__ __forceinline__ static Stats over_lanes(Lanes, Stats own) {
    return lanes_reduce<Lanes::value>(own, [](Stats a, Stats b) { return a + b; });
  }
  __device__ __forceinline__ static std::uint64_t word_of(Stats sum) { return std::uint64_t{1} << 32 | sum; }
  __device__ __forceinline__ static Stats stats_in(std::uint64_t word, float) {
    return static_cast<Stats>(word);
  }
  template <int kOwn>
  __device__ __forceinline__ static Stats of_parts(const Stats (&own)[kOwn]) {
    Stats sum = 0;
#pragma unroll
    for (int k = 0; k < kOwn; ++k) sum += own[k];
    return over_lanes(std::integral_constant<int, kWarpSize>{}, sum);
  }
};

}  // namespace rooftile::ROOFTILE_TARGET
